"""What must be true of engramdown/adapters."""
