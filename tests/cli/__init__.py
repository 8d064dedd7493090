"""What must be true of engramdown/cli."""
