"""What must be true of engramdown/context."""
