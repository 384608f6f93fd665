"""Running text as a stream of token ids in memory-mapped shards."""
