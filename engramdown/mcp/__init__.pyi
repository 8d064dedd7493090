from engramdown.mcp.http import TOKEN_FILE as TOKEN_FILE
from engramdown.mcp.http import bind as bind
from engramdown.mcp.http import in_url as in_url
from engramdown.mcp.http import token_of as token_of
from engramdown.mcp.http import url_of as url_of
from engramdown.mcp.server import Offer as Offer
from engramdown.mcp.server import serve_http as serve_http
from engramdown.mcp.server import serve_stdio as serve_stdio
