"""The controls: what is hidden is known to us (paper, "Controlled ambiguity and probe validation")."""
