"""Experiments over runs: metrics as the paper defines them, and studies that anyone can run again."""
