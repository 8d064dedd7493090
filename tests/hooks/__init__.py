"""What must be true of engramdown/hooks."""
