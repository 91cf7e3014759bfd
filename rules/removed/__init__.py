"""Rules for what the revision removed."""
