"""The statuses that commands end with besides 0, 1 (an error) and 2 (a mistake in the command line)."""

FOUND_STATUS = 3
"""The exploration met what it was told to fail on."""

INTERRUPTED_STATUS = 130
"""Ctrl-C or SIGTERM ended it early: what shells say of a program that an interrupt ended."""
