"""Reports of a training: lines of metrics, trackers, what is printed."""
