"""What must be true of engramdown/conversation."""
