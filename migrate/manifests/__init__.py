"""The files beside the code that say what it needs: which of them are read, and what they say, with its place in their bytes."""
