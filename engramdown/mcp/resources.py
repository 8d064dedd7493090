"""What of memory can be read as a page: rules, lessons, the profile, a topic, what is pending.

A page shows what a prompt would show and no more: no metadata, no private note, nothing
that has expired or that a person has not approved yet; its text is inert. A page that is not there
is refused with those that are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, unquote

from engramdown.clock import today
from engramdown.engram import slug
from engramdown.errors import EngramdownError, InvalidEngramError, StoreError
from engramdown.kinds import LESSONS, PROFILE, RULES
from engramdown.language import bullet, heading, inert, one_line

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.hippocampus import Entry

TOPIC: Final = "memory://topics/"
"""What the address of a topic begins with."""
SKILL: Final = "memory://skills/"
"""What the address of a skill begins with."""
_MOST: Final = 1_000
_MANY: Final = 200
_TITLES: Final = {"global": "In all projects", "project": "In this project"}
_NOTHING: Final = "Nothing yet."
_LONGEST_URI: Final = 1_000
_LONGEST: Final = 200
"""How much of an address that is none is told back, in characters."""


class Page(NamedTuple):
    """A page that is always there.

    Attributes:
        title: What a person calls it.
        about: What it holds.
        text: What makes it.
    """

    title: str
    about: str
    text: Callable[[Cortex], str]


class Listed(NamedTuple):
    """A page that there is.

    Attributes:
        uri: Its address.
        title: What a person calls it.
        about: What it holds.
    """

    uri: str
    title: str
    about: str


class UnknownPageError(EngramdownError):
    """There is no page with this address; the message names those that there are."""


def page(cortex: Cortex, uri: str) -> str:
    """Return the page with an address, as markdown.

    Raises:
        UnknownPageError: If there is none.
        StoreError: If memory cannot be read.
    """
    path = uri.rstrip("/")
    # What names the kind of a page has no capitals, whoever writes it with some.
    known = path.casefold()
    if known in PAGES:
        return with_unreadable(cortex, PAGES[known].text(cortex))
    for begins, read in ((TOPIC, _topic), (SKILL, _skill)):
        if f"{known}/".startswith(begins):
            return read(cortex, unquote(path[len(begins) :]))
    there = ", ".join((*PAGES, f"{TOPIC}<topic>", f"{SKILL}<label>"))
    raise UnknownPageError(f"there is no page {_told(uri)}; there are {there}")


def with_unreadable(cortex: Cortex, text: str) -> str:
    """Return a text about memory, which says what of it could not be read.

    Raises:
        StoreError: If there is nothing to show but that.
    """
    lost = cortex.scopes.unreadable()
    if not lost:
        return text
    if not text or _NOTHING in text:
        raise StoreError(lost[0])
    return f"{text.rstrip()}\n\nCould not be read, and is left out: {one_line(lost[0])}\n"


def is_one(uri: str) -> bool:
    """Whether a page could have this address, now or later.

    >>> is_one("memory://rules"), is_one("memory://topics/later"), is_one("file:///etc/passwd")
    (True, True, False)
    """
    return uri in PAGES or (uri.startswith((TOPIC, SKILL)) and len(uri) <= _LONGEST_URI)


def listed(cortex: Cortex) -> list[Listed]:
    """Return the pages that there are: those that always are, the topics, the skills.

    Raises:
        StoreError: If memory cannot be read.
    """
    found = [Listed(uri, each.title, each.about) for uri, each in PAGES.items()]
    for topic, count in _topics(cortex):
        about = "1 lesson" if count == 1 else f"{count} lessons"
        found.append(Listed(address(TOPIC, topic), f"Topic {inert(topic)}", about))
    for skill in cortex.skills.usable()[:_MANY]:
        about = one_line(skill.description)
        found.append(Listed(address(SKILL, skill.label), f"Skill {skill.label}", about))
    return found


def address(begins: str, name: str) -> str:
    """Return the address of a topic or a skill.

    >>> address(TOPIC, "api-coingecko")
    'memory://topics/api-coingecko'
    """
    return begins + quote(name, safe="")


def _topics(cortex: Cortex) -> list[tuple[str, int]]:
    """Return the topics, and how many lessons each has; those with the most first."""
    found = cortex.scopes.topics()
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))[:_MANY]


def _rules(cortex: Cortex) -> str:
    return _document("Rules", _of(cortex, RULES), _headed)


def _lessons(cortex: Cortex) -> str:
    return _document("Lessons", _of(cortex, LESSONS), _listed)


def _profile(cortex: Cortex) -> str:
    return _document("Who the user is", _of(cortex, PROFILE), _listed)


def _context(cortex: Cortex) -> str:
    return str(cortex.build_memory_context(scratchpad=True)) or _NOTHING


def _pending(cortex: Cortex) -> str:
    return cortex.use_tool("review", {}).text


def _topic(cortex: Cortex, name: str) -> str:
    try:
        found = cortex.scopes.recall_topic(name)
    except InvalidEngramError:
        found = []  # no name of a topic, so there is none
    live = _live(found)
    if not live:
        there = ", ".join(topic for topic, _ in _topics(cortex)) or "none yet"
        raise UnknownPageError(f"there is no topic {_told(name)}; there are {there}")
    return _document(f"Topic {slug(name)}", live, _listed)


def _told(name: str) -> str:
    shown = inert(name)
    return repr(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…")


def _skill(cortex: Cortex, label: str) -> str:
    # As a tool, so that a model that remembers its words is not taken to have them from the user.
    found = cortex.use_tool("recall_skill", {"label": label})
    if found.is_error:
        raise UnknownPageError(found.text.removeprefix("recall_skill failed: "))
    return found.text


def _of(cortex: Cortex, file: str) -> list[Entry]:
    both = (cortex.scopes.global_hc, cortex.scopes.project_hc)
    return _live(
        entry for store in both for entry in cortex.scopes.readable(store) if entry.file == file
    )


def _live(entries: Iterable[Entry]) -> list[Entry]:
    day = today().isoformat()
    return [entry for entry in entries if not entry.expires or entry.expires >= day]


def _document(
    title: str, entries: list[Entry], rows: Callable[[Iterable[Entry]], Iterator[str]]
) -> str:
    if not entries:
        return f"# {title}\n\n{_NOTHING}\n"
    lines = [f"# {title}"]
    for scope, found in groupby(entries, lambda entry: entry.scope):
        here = list(found)
        lines += ["", f"## {_TITLES[scope]}", ""]
        if here[:-_MOST]:
            lines += [f"({len(here) - _MOST} older ones are left out; `recall` finds them)", ""]
        lines += rows(here[-_MOST:])
    return "\n".join(lines) + "\n"


def _listed(entries: Iterable[Entry]) -> Iterator[str]:
    yield from (bullet(entry.text) for entry in entries)


def _headed(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield entries below the headings that they stand under."""
    for at, (title, found) in enumerate(groupby(entries, _heading)):
        yield from ([""] if at else [])
        yield from (f"### {title}", "")
        yield from _listed(found)


def _heading(entry: Entry) -> str:
    return heading(entry.heading) or entry.kind.capitalize()


PAGES: Final = MappingProxyType(
    {
        "memory://context": Page(
            "Memory", "What a prompt is given of memory: identity, rules, lessons.", _context
        ),
        "memory://rules": Page("Rules", "What always, never and sometimes holds.", _rules),
        "memory://lessons": Page("Lessons", "What was learned, the newest last.", _lessons),
        "memory://profile": Page("Profile", "Who the user is.", _profile),
        "memory://pending": Page("Pending", "What waits for the user's decision.", _pending),
    }
)
"""The pages that are always there, by their addresses."""
