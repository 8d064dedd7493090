"""The MCP server: memory for any assistant that speaks the Model Context Protocol.

What is served is what the Cortex says: the same tools, the same gate, the same words. A call of a
model never blocks the others, and no client ever decides for a person. It needs the extra
``engramdown[mcp]``; nothing of that is imported before a server starts.
"""
