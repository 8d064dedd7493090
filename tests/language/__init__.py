"""What must be true of engramdown/language."""
