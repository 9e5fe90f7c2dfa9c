"""What can be done on an observation, what it is called across runs, and what must not be done."""
