"""``python -m screensearch``: the command line."""

from screensearch.cli import main

main(prog_name="screensearch")
