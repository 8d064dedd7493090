"""The HTTP API and the page, on this machine alone: ``engramdown serve``.

What answers is one table of routes; what they answer with is what the commands' ``--json`` prints.
One guard stands before the routes and before the MCP server. It needs the extra
``engramdown[serve]``, which is imported only when a server starts.
"""

from engramdown.lazy import door

__getattr__, __dir__ = door(__name__)
