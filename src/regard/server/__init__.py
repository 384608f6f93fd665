"""The server: one application, one store of models with their schedulers, thin adapters of protocols."""
