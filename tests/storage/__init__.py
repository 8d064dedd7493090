"""What must be true of engramdown/storage."""
