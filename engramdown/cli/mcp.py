"""``engramdown mcp``: serves memory to any assistant that speaks the Model Context Protocol.

Standard output carries only the protocol, or only the settings for a client. What is wrong is said
on stderr before a client is served.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import output, process
from engramdown.cli.access import home_of, open_quietly, project_of, start_of
from engramdown.cli.commands import given, pass_place
from engramdown.cli.output import USAGE, RefusalError
from engramdown.cli.process import Place
from engramdown.mcp import CLIENTS

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.mcp import Offer


CLIENT_HELP: Final = "Print what CLIENT needs to find the server: {known}."

KEEP: Final = "it holds your token: keep the file out of git"

NO_PIPES: Final = "a client talks through standard input and output, and one of them is closed"
WAITS: Final = (
    "waiting for a client on standard input; `engramdown mcp --print-config claude-code` prints "
    "what one needs. Ctrl-C stops."
)


def missing(error: ImportError) -> str:
    """Say that the extra is not installed, or an older one is."""
    return (
        f"the MCP server needs the extra `mcp` ({error}); "
        'install it with: pip install "engramdown[mcp]"'
    )


def serving(url: str, token: Path) -> str:
    """Say where a server over HTTP is found, and with what."""
    return (
        f"serving memory at {url}; clients show the token in {token}: "
        "`engramdown mcp --http --print-config CLIENT` prints their settings. Ctrl-C stops."
    )


def no_project(start: Path) -> str:
    """Say that there is no project yet."""
    return f"no project at {start} yet; one begins there with the first memory of the project"


def config(title: str, file: str) -> str:
    """Say where what was printed belongs."""
    return f"for {title}: put this into {file}"


def no_tool(reason: str) -> str:
    """Say that there is no such tool."""
    return f"--tools: {reason}"


_PORT: Final = 8377
_NAMES: Final = ("engramdown", "egd")


class _MissingError(RefusalError):
    exit_code = USAGE


@click.command()
@click.option("--http", "over_http", is_flag=True, help="Serve several clients over HTTP.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="With --http: a loopback address."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=_PORT,
    show_default=True,
    help="With --http: which one; 0 for one that is free.",
)
@click.option(
    "--tools", metavar="NAMES", help="Offer these tools, with commas between, instead of the usual."
)
@click.option(
    "--no-ask", is_flag=True, help="Leave what waits in pending.md; ask nobody in their client."
)
@click.option(
    "--print-config",
    "client",
    type=click.Choice([*CLIENTS]),
    metavar="CLIENT",
    help=CLIENT_HELP.format(known=", ".join(CLIENTS)),
)
@pass_place
def mcp(place: Place, /, **_: object) -> None:
    """Serve memory to assistants over MCP.

    A client starts this itself and talks to it through standard input and output. With --http it
    runs by itself, for several clients on this machine.

    `engramdown mcp --print-config claude-code` prints what a client needs.
    """
    options = given()
    if options["client"]:
        _print_config(place, options)
        return
    _check_extra()
    from engramdown.mcp import Offer, serve_stdio

    cortex = open_quietly(place, "nothing")
    names = _names(options)
    try:
        definitions = cortex.tool_definitions("mcp", names or None)
    except ValueError as error:
        raise click.UsageError(no_tool(str(error))) from error
    offer = Offer(definitions, asks=not options["no_ask"])
    for notice in cortex.scopes.notices():
        output.note(notice)
    if project_of(place) is None:
        output.note(no_project(start_of(place)))
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


def _check_extra() -> None:
    """Refuse to go on without what a server needs.

    Raises:
        click.ClickException: The extra is not installed.
    """
    try:
        import engramdown.mcp.server  # noqa: F401 - it needs the SDK
    except ImportError as error:
        if (error.name or "").startswith("engramdown"):
            raise
        raise _MissingError(missing(error)) from error


def _serve_http(place: Place, cortex: Cortex, offer: Offer, options: dict[str, Any]) -> None:
    from engramdown.mcp import TOKEN_FILE, bind, serve_http, token_of, url_of

    home = home_of(place)
    token = token_of(home)
    address = bind(options["host"], options["port"])
    begins = serving(url_of(address.host, address.port), home / TOKEN_FILE)
    serve_http(cortex, offer, address, token, lambda: output.note(begins))


def _print_config(place: Place, options: dict[str, Any]) -> None:
    client = CLIENTS[options["client"]]
    if options["over_http"]:
        from engramdown.mcp import http_settings, in_url, token_of, url_of

        url = url_of(in_url(options["host"]), options["port"])
        found = http_settings(client, url, token_of(home_of(place)))
    else:
        from engramdown.mcp import stdio_settings

        found = stdio_settings(client, _program(), _where(place), _more(options))
    # Standard output holds the settings and nothing else: it may go into a file.
    click.echo(json.dumps(found, indent=2))
    output.note(config(client.title, client.file))
    if options["over_http"]:
        output.note(KEEP)


def _where(place: Place) -> list[str]:
    """Return the options that lead the program to the same memory, from wherever it is started."""
    found = ["--project", str(place.project.absolute())] if place.project else []
    # A client gives a server hardly any of the variables that it has itself.
    if place.home or os.environ.get("ENGRAMDOWN_HOME"):
        found += ["--home", str(home_of(place))]
    return [*found, "--mode", place.mode] if place.mode else found


def _more(options: dict[str, Any]) -> list[str]:
    names = _names(options)
    found = ["--tools", ",".join(names)] if names else []
    return [*found, "--no-ask"] if options["no_ask"] else found


def _names(options: dict[str, Any]) -> list[str]:
    return [name for each in (options["tools"] or "").split(",") if (name := each.strip())]


def _program() -> str:
    """Return the path of this program: a client may look for it elsewhere than a shell does."""
    own = Path(sys.argv[0])
    if own.stem in _NAMES and own.exists():
        return str(own.absolute())
    return shutil.which(_NAMES[0]) or _NAMES[0]
