"""What must be true of engramdown/mcp."""
