"""What must be true of engramdown/git."""
