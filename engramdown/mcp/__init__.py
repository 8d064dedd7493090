"""The MCP server: memory for any assistant that speaks the Model Context Protocol.

It serves a Cortex: the same tools, the same gate, the same words. A call never blocks the others,
and no client ever decides for a person. It needs the extra ``engramdown[mcp]``, which is imported
only when a server starts.
"""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
