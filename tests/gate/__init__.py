"""What must be true of engramdown/gate."""
