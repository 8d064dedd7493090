"""What must be true of engramdown/journal."""
