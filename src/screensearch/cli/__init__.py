"""The command line. Each command is a thin layer over the public Python interface."""

from __future__ import annotations

from screensearch.cli.root import main

__all__ = ["main"]
