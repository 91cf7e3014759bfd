"""Rules for what the revision changed."""
