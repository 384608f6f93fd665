"""Transfer studies: pretrained models and vectors against training from scratch."""
