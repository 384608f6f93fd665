"""Planned defaults: settings that follow from data, model and device by stated rules."""
