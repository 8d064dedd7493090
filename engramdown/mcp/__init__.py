"""The MCP server: memory for any assistant that speaks the Model Context Protocol.

Promises: what is served is what the Cortex says: the same tools, the same gate, the same words; a
call of a model never blocks the others, and no client ever decides for a person. It needs the extra
``engramdown[mcp]``; nothing is imported of it before a server starts.
"""

__all__: list[str] = []
