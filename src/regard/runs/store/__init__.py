"""The folder of a run: files, lock, records, listing."""
