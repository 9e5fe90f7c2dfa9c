"""One run on many machines: Ray places and restarts, PostgreSQL holds the truth."""
