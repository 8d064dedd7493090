from engramdown.mcp.server import Offer as Offer
from engramdown.mcp.server import http_app as http_app
from engramdown.mcp.server import serve_http as serve_http
from engramdown.mcp.server import serve_stdio as serve_stdio
