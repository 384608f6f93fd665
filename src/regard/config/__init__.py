"""Settings: layers of values merged into frozen, strict schemas; parsers that trust no file."""
