"""The server: one application, one place that loads models and schedules requests, thin adapters of protocols."""
