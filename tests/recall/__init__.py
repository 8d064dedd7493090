"""What must be true of engramdown/recall."""
