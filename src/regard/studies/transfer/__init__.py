"""What a pretrained beginning buys: one task, several ways to begin, more and more examples."""
