"""What happened, kept for ever: the log, the artifacts, and the graph as a fold of the log."""
