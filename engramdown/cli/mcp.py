"""``engramdown mcp``: serves memory to any assistant that speaks the Model Context Protocol.

Standard output carries only the protocol, or only the settings for a client: the whole file that
it reads if it has no other server. Errors are reported on stderr before a client is served.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from engramdown.cli import output, process
from engramdown.cli.access import home_of, open_quietly, project_of, start_of
from engramdown.cli.commands import given, needs_extra, pass_place
from engramdown.cli.process import Place

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.mcp import Offer

NO_PIPES: Final = "a client talks through standard input and output, and one of them is closed"
WAITS: Final = (
    "waiting for a client on standard input; `engramdown mcp --print-config claude-code` prints "
    "what one needs. Ctrl-C stops."
)
_PORT: Final = 8377


class Client(NamedTuple):
    """A program that speaks MCP.

    Attributes:
        title: Its name.
        file: Where its settings are.
        key: The key of the servers there.
        names_type: Whether it needs the type of the connection.
        folder: What it replaces with the folder of the project; ``""`` if it starts servers there.
    """

    title: str
    file: str
    key: str = "mcpServers"
    names_type: bool = False
    folder: str = ""


_FOLDER: Final = "${workspaceFolder}"
# The clients that we know, by the names that the command takes.
CLIENTS: Final[Mapping[str, Client]] = {
    "claude-code": Client("Claude Code", ".mcp.json in the project", names_type=True),
    "cursor": Client("Cursor", ".cursor/mcp.json in the project", folder=_FOLDER),
    "vscode": Client(
        "VS Code", ".vscode/mcp.json in the project", key="servers", names_type=True, folder=_FOLDER
    ),
    "json": Client("any client", "the settings of your client"),
}


@click.command()
@click.option("--http", "over_http", is_flag=True, help="Serve several clients over HTTP.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="With --http: a loopback address."
)
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=_PORT, show_default=True, help="With --http."
)
@click.option(
    "--tools", metavar="NAMES", help="Offer these tools, with commas between, instead of the usual."
)
@click.option(
    "--no-ask", is_flag=True, help="Leave what waits in pending.md; ask nobody in their client."
)
@click.option(
    "--print-config", "client", type=click.Choice([*CLIENTS]), help="Print what a client needs."
)
@pass_place
def mcp(place: Place, /, **_: object) -> None:
    """Serve memory to assistants over MCP.

    A client starts this itself and talks to it through standard input and output. With --http it
    runs by itself, for several clients on this machine.

    `engramdown mcp --print-config claude-code` prints what a client needs.
    """
    options = given()
    tools = [name for each in (options["tools"] or "").split(",") if (name := each.strip())]
    if options["client"]:
        _print_config(place, tools, options)
        return
    needs_extra("engramdown.mcp.server", "mcp", "the MCP server")
    from engramdown.mcp import Offer, serve_stdio

    cortex = open_quietly(place, "nothing")
    try:
        definitions = cortex.tool_definitions("mcp", tools or None)
    except ValueError as error:
        raise click.UsageError(f"--tools: {error}") from error
    offer = Offer(definitions, asks=not options["no_ask"])
    for notice in cortex.scopes.notices():
        output.note(notice)
    if project_of(place) is None:
        begins = "one begins there with the first memory of the project"
        output.note(f"no project at {start_of(place)} yet; {begins}")
    if options["over_http"]:
        _serve_http(place, cortex, offer, options)
        return
    # Python sets a stream that its parent closed to None, which no type of its library says.
    ends: list[object] = [sys.stdin, sys.stdout]
    if None in ends:
        raise click.UsageError(NO_PIPES)
    if process.is_terminal(sys.stdin):
        output.note(WAITS)
    serve_stdio(cortex, offer)


def _serve_http(place: Place, cortex: Cortex, offer: Offer, options: dict[str, Any]) -> None:
    from engramdown.mcp import serve_http
    from engramdown.web import TOKEN_FILE, bind, token_of, url_of

    home = home_of(place)
    token = token_of(home)
    address = bind(options["host"], options["port"])
    begins = (
        f"serving memory at {url_of(address.host, address.port)}; clients show the token in "
        f"{home / TOKEN_FILE}: `engramdown mcp --http --print-config CLIENT` prints their "
        "settings. Ctrl-C stops."
    )
    serve_http(cortex, offer, address, token, lambda: output.note(begins))


def _print_config(place: Place, tools: list[str], options: dict[str, Any]) -> None:
    client = CLIENTS[options["client"]]
    server: dict[str, object]
    if options["over_http"]:
        from engramdown.web import in_url, token_of, url_of

        url = url_of(in_url(options["host"]), options["port"])
        headers = {"Authorization": f"Bearer {token_of(home_of(place))}"}
        kind, server = "http", {"url": url, "headers": headers}
    else:
        from engramdown.git import program

        # The options lead the program to the same memory, from wherever it is started.
        project = str(place.project.absolute()) if place.project else client.folder
        words = ["--project", project] if project else []
        # A client gives a server hardly any of the variables that it has itself.
        if place.home or os.environ.get("ENGRAMDOWN_HOME"):
            words += ["--home", str(home_of(place))]
        words += ["--mode", place.mode] if place.mode else []
        words += ["mcp", *(["--tools", ",".join(tools)] if tools else [])]
        words += ["--no-ask"] if options["no_ask"] else []
        # By its whole path: a client may look for it elsewhere than a shell does.
        command, *call = program()
        kind, server = "stdio", {"command": command, "args": [*call, *words]}
    named = {"type": kind} if client.names_type else {}
    config = {client.key: {"engramdown": {**named, **server}}}
    # Standard output holds the settings and nothing else: it may go into a file.
    click.echo(json.dumps(config, indent=2))
    output.note(f"for {client.title}: put this into {client.file}")
    if options["over_http"]:
        output.note("it holds your token: keep the file out of git")
