"""Classification of texts and text pairs."""
