"""What must be true of engramdown/models."""
