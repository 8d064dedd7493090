"""What must be true of engramdown/sleep."""
