"""The telling wing: one format, one function, one file."""
