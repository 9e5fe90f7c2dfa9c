"""Runs as files that other programs read: tables, one JSON document, a graph for drawing; and back."""
