"""What was done in a row: the transitions of episodes as segments and windows that lead somewhere."""
