"""Frozen values that every room shares. No input or output happens here."""
