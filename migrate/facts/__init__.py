"""The facts: what a file says."""
