"""Looking at a run before it begins: the text, the sets, their alignment, the sizes, the machine, the rate."""
