"""The MCP server: memory for any assistant that speaks the Model Context Protocol.

What is served is what the Cortex says: the same tools, the same gate, the same words. A call of a
model never blocks the others, and no client ever decides for a person. It needs the extra
``engramdown[mcp]``; nothing of that is imported before a server starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.mcp.http import TOKEN_FILE, bind, in_url, token_of, url_of
    from engramdown.mcp.server import Offer, serve_http, serve_stdio

__all__ = [
    "TOKEN_FILE",
    "Offer",
    "bind",
    "in_url",
    "serve_http",
    "serve_stdio",
    "token_of",
    "url_of",
]

__getattr__, __dir__ = door(
    __name__,
    {
        "http": ["TOKEN_FILE", "bind", "in_url", "token_of", "url_of"],
        "server": ["Offer", "serve_http", "serve_stdio"],
    },
)
