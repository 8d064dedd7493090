"""The pages of memory that a client can read.

There are pages of rules, lessons, the profile, a topic, and pending proposals. A page
shows only what a prompt would show: no metadata, no private note, nothing that has expired or that
a person has not approved yet; its text is inert. The error for an unknown page names the known
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, unquote

import mcp_types as types

from engramdown.clock import today
from engramdown.engram import slug
from engramdown.errors import EngramdownError, InvalidEngramError, StoreError
from engramdown.kinds import LESSONS, PROFILE, RULES
from engramdown.language import bullet, heading, inert, one_line

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.hippocampus import Entry

# What the address of a topic begins with.
MARKDOWN: Final = "text/markdown"
TOPIC: Final = "memory://topics/"
_MOST_ENTRIES: Final = 1_000
_MOST_LISTED: Final = 200
_TITLES: Final = {"global": "In all projects", "project": "In this project"}
_NOTHING: Final = "Nothing yet."
# How many characters of an unknown address are quoted.
_LONGEST_ECHO: Final = 200


class Page(NamedTuple):
    """A page with a fixed address.

    Attributes:
        title: Its name for people.
        about: What it holds.
        text: Returns its text.
    """

    title: str
    about: str
    text: Callable[[Cortex], str]


class UnknownPageError(EngramdownError):
    """No page has this address; the message names the pages that exist."""


def page(cortex: Cortex, uri: str) -> str:
    """Return the page at an address, as markdown.

    Raises:
        UnknownPageError: If no page has the address.
        StoreError: If memory cannot be read.
    """
    path = uri.rstrip("/")
    # The part of an address that names the kind of page is matched without regard to case.
    known = path.casefold()
    if known in PAGES:
        return with_unreadable(cortex, PAGES[known].text(cortex))
    if f"{known}/".startswith(TOPIC):
        return _topic_page(cortex, unquote(path[len(TOPIC) :]))
    there = ", ".join((*PAGES, f"{TOPIC}<topic>"))
    raise UnknownPageError(f"there is no page {_echo(uri)}; there are {there}")


def with_unreadable(cortex: Cortex, text: str) -> str:
    """Return a text about memory with a note about what could not be read.

    Raises:
        StoreError: If there is nothing else to show.
    """
    lost = cortex.scopes.unreadable()
    if not lost:
        return text
    if not text or _NOTHING in text:
        raise StoreError(lost[0])
    return f"{text.rstrip()}\n\nCould not be read, and is left out: {one_line(lost[0])}\n"


def listed(cortex: Cortex) -> list[types.Resource]:
    """Return all pages: the fixed ones, and the topics.

    Raises:
        StoreError: If memory cannot be read.
    """
    found = [_resource(uri, each.title, each.about) for uri, each in PAGES.items()]
    for topic, count in _topics(cortex):
        about = "1 lesson" if count == 1 else f"{count} lessons"
        found.append(_resource(address(topic), f"Topic {inert(topic)}", about))
    return found


def _resource(uri: str, title: str, about: str) -> types.Resource:
    name = uri.removeprefix("memory://")
    return types.Resource(
        uri=uri, name=name, title=title, description=sendable(about), mime_type=MARKDOWN
    )


def sendable(text: str) -> str:
    """Return ``text`` as JSON can carry it: half a pair of surrogates is escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def address(topic: str) -> str:
    """Return the address of a topic.

    >>> address("api-coingecko")
    'memory://topics/api-coingecko'
    """
    return TOPIC + quote(topic, safe="")


def _topics(cortex: Cortex) -> list[tuple[str, int]]:
    """Return each topic with its number of lessons, the largest first."""
    found = cortex.scopes.topics()
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))[:_MOST_LISTED]


def _pending_page(cortex: Cortex) -> str:
    return cortex.use_tool("review", {}).text


def _file_page(title: str, file: str, *, headed: bool = False) -> Callable[[Cortex], str]:
    """Return the function that makes the page of a file of memory."""

    def make(cortex: Cortex) -> str:
        stores = (cortex.scopes.global_hc, cortex.scopes.project_hc)
        both = (entry for store in stores for entry in cortex.scopes.readable(store))
        live = _live(cortex, (each for each in both if each.file == file))
        return _document(title, live, headed=headed)

    return make


def _topic_page(cortex: Cortex, name: str) -> str:
    try:
        entries = _live(cortex, cortex.scopes.recall_topic(name))
    except InvalidEngramError:
        entries = []  # not a valid name of a topic
    if not entries:
        there = ", ".join(topic for topic, _ in _topics(cortex)) or "none yet"
        raise UnknownPageError(f"there is no topic {_echo(name)}; there are {there}")
    return _document(f"Topic {slug(name)}", entries)


def _echo(name: str) -> str:
    shown = inert(name)
    return repr(shown if len(shown) <= _LONGEST_ECHO else f"{shown[:_LONGEST_ECHO]}…")


def _live(cortex: Cortex, entries: Iterable[Entry]) -> list[Entry]:
    day, told = today().isoformat(), cortex.scopes.citations().told
    live = (entry for entry in entries if not entry.expires or entry.expires >= day)
    return [entry._replace(text=told(entry)) for entry in live]


def _document(title: str, entries: list[Entry], *, headed: bool = False) -> str:
    """Return entries by their scopes; ``headed`` puts them below the headings of their file."""
    if not entries:
        return f"# {title}\n\n{_NOTHING}\n"
    lines = [f"# {title}"]
    for scope, found in groupby(entries, lambda entry: entry.scope):
        here = list(found)
        lines += ["", f"## {_TITLES[scope]}", ""]
        if left_out := here[:-_MOST_ENTRIES]:
            lines += [f"({len(left_out)} older ones are left out; `recall` finds them)", ""]
        for at, (name, group) in enumerate(groupby(here[-_MOST_ENTRIES:], _heading)):
            if headed:
                lines += [*([""] if at else []), f"### {name}", ""]
            lines += [bullet(entry.text) for entry in group]
    return "\n".join(lines) + "\n"


def _heading(entry: Entry) -> str:
    return heading(entry.heading) or entry.kind.capitalize()


# The pages with fixed addresses.
PAGES: Final = {
    "memory://rules": Page(
        "Rules", "What always, never and sometimes holds.", _file_page("Rules", RULES, headed=True)
    ),
    "memory://lessons": Page(
        "Lessons", "What was learned, the newest last.", _file_page("Lessons", LESSONS)
    ),
    "memory://profile": Page("Profile", "Who the user is.", _file_page("Who the user is", PROFILE)),
    "memory://pending": Page("Pending", "What waits for the user's decision.", _pending_page),
}
