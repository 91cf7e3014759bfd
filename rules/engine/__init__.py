"""Entries for what the engine itself finds; they have no module."""
