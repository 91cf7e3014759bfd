"""Rules for what the revision added."""
