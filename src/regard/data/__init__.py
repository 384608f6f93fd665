"""From files to batches: sources, cleaning, encoding, corpora on disk, feeds."""
