"""What pipelines of several tasks share: encoders, pooling, tables of results."""
