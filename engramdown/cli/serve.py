"""``engramdown serve``: the page and the HTTP API, for this person on this machine.

A page is signed in by a code that counts once. `--open` hands one to the browser in a file that
only the user can read, so that no list of processes shows it; `--code` prints one.
"""

from __future__ import annotations

import contextlib
import html
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from engramdown.cli import output, process
from engramdown.cli.access import home_of, open_quietly, project_of, start_of
from engramdown.cli.commands import given, json_option, needs_extra, pass_place
from engramdown.cli.layout import line
from engramdown.cli.output import STORE_FAILED, RefusalError
from engramdown.cli.process import Place
from engramdown.errors import SettingsError
from engramdown.forks import Event, in_thread

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.web import Address, Keys, WorkerPool

_PORT: Final = 8378
_OPENING: Final = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>Engramdown</title>
<p><a href="{url}">Open the page</a></p>
"""


class _TakenError(RefusalError):
    exit_code = STORE_FAILED


@click.command()
@click.option("--open", "opens", is_flag=True, help="Open the page in your browser, signed in.")
@click.option("--read-only", is_flag=True, help="Only show memory; offer nothing that changes it.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=_PORT,
    show_default=True,
    help="Where to listen; 0 for any free port.",
)
@click.option("--mcp", "with_mcp", is_flag=True, help="Serve MCP on the same port, at /mcp.")
@click.option("--code", is_flag=True, help="Print a code for a page that asks for one, and end.")
@click.option("--revoke", is_flag=True, help="Sign out every page, and end.")
@json_option
@pass_place
def serve(place: Place, /, **_: object) -> None:
    """Open memory in a page, and to programs over HTTP, on this machine alone.

    It runs until Ctrl-C. The page shows what waits for you, what was learned and all that is
    remembered. `engramdown serve --open` opens it; a bookmark or a second tab asks for a code,
    which `engramdown serve --code` prints.
    """
    options = given()
    if options["code"] or options["revoke"]:
        _sign(place, options)
        return
    needs_extra("engramdown.web.app", "serve", "the page")
    if options["with_mcp"]:
        needs_extra("engramdown.mcp.server", "mcp", "the MCP server")
    from engramdown.web import TOKEN_FILE, Keys, serve

    cortex = open_quietly(place, "nothing")
    address = _bind(options["port"])
    keys = Keys(home_of(place))
    for notice in cortex.scopes.notices():
        output.note(notice)
    if project_of(place) is None:
        begins = "one begins there with the first memory of the project"
        output.note(f"no project at {start_of(place)} yet; {begins}")
    token_file = keys.home / TOKEN_FILE

    def ready() -> None:
        if options["as_json"]:
            click.echo(json.dumps({"url": address.url, "token_file": str(token_file)}))
        else:
            codes = "engramdown serve --code prints the code that a page asks for"
            output.show(
                [
                    line((address.url, "strong"), " shows this memory. Ctrl-C stops it."),
                    line((f"{codes}; programs show the token in {token_file}", "dim")),
                ]
            )
        process.flush()

    with _opened(address, keys) if options["opens"] else contextlib.nullcontext():
        serve(
            cortex,
            address,
            keys,
            is_read_only=options["read_only"],
            mcp=_mcp(cortex, options) if options["with_mcp"] else None,
            ready=ready,
        )


def _sign(place: Place, options: dict[str, Any]) -> None:
    """Print a code for a page, or sign out all pages."""
    from engramdown.web import CODE_SECONDS, Keys

    keys = Keys(home_of(place))
    if options["revoke"]:
        count = keys.revoke()
        pages = "1 page is" if count == 1 else f"{count} pages are"
        if options["as_json"]:
            output.print_json({"revoked": count})
        else:
            output.show([line(f"{pages} signed out")])
    if options["code"]:
        code = keys.new_code()
        if options["as_json"]:
            output.print_json({"code": code, "seconds": CODE_SECONDS})
        else:
            click.echo(code)
            output.note(f"give it to the page within {CODE_SECONDS} seconds; it counts once")


def _bind(port: int) -> Address:
    """Listen on a port.

    Raises:
        RefusalError: It is in use, or may not be used.
    """
    from engramdown.web import bind

    try:
        return bind(port=port, command="serve")
    except SettingsError as error:
        runs = "if that is your memory, `engramdown serve --code` signs its page in"
        raise _TakenError(f"--port: {error.problem.partition(': ')[2]}; {runs}") from error


def _mcp(cortex: Cortex, options: dict[str, Any]) -> Callable[[WorkerPool], Any]:
    """Return what makes the MCP server.

    Nobody is asked in a client: a program that shows the token could answer for the person, who
    decides in the page.
    """
    from engramdown.mcp import Offer, http_app

    tools = cortex.tool_definitions("mcp")
    if options["read_only"]:
        tools = [tool for tool in tools if tool["annotations"]["readOnlyHint"]]
    return lambda pool: http_app(pool, Offer(tools, asks=False))


@contextlib.contextmanager
def _opened(address: Address, keys: Keys) -> Iterator[None]:
    """Open the page in the browser, through a file that holds a code, until that is worthless."""
    import webbrowser

    from engramdown.storage import Disk
    from engramdown.web import CODE_SECONDS

    path = keys.home / f"open-{address.port}.html"
    url = html.escape(f"{address.url}#once={keys.new_code()}")
    Disk().save(path, _OPENING.format(url=url).encode(), durable=False, replace=True)
    is_over = Event()

    def show() -> None:
        if not webbrowser.open(path.as_uri()):
            output.note(f"no browser was found; open {address.url} and give it a code")
        is_over.wait(CODE_SECONDS)
        path.unlink(missing_ok=True)

    in_thread(show, "engramdown-open")
    try:
        yield
    finally:
        is_over.set()
        path.unlink(missing_ok=True)
