"""Settings of data sets: pairs, labeled examples, running text; no torch."""
