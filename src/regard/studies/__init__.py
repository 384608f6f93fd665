"""Studies of several runs or trials."""
