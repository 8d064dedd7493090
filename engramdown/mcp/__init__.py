"""The MCP server: memory for any assistant that speaks the Model Context Protocol.

It serves a Cortex: the same tools, the same gate, the same words. A call never blocks the others,
and no client ever decides for a person. It needs the extra ``engramdown[mcp]``, which is imported
only when a server starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engramdown.lazy import door

if TYPE_CHECKING:
    from engramdown.mcp.http import TOKEN_FILE as TOKEN_FILE
    from engramdown.mcp.http import bind as bind
    from engramdown.mcp.http import in_url as in_url
    from engramdown.mcp.http import token_of as token_of
    from engramdown.mcp.http import url_of as url_of
    from engramdown.mcp.server import Offer as Offer
    from engramdown.mcp.server import serve_http as serve_http
    from engramdown.mcp.server import serve_stdio as serve_stdio

__getattr__, __dir__ = door(
    __name__,
    {
        "http": ["TOKEN_FILE", "bind", "in_url", "token_of", "url_of"],
        "server": ["Offer", "serve_http", "serve_stdio"],
    },
)
