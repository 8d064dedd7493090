"""What must be true of engramdown/servers/mcp."""
