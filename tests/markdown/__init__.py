"""What must be true of engramdown/markdown."""
