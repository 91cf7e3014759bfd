"""Rules for what the revision deprecates."""
