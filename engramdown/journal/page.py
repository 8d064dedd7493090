r"""One day of the journal: a markdown page that sections are appended to and nothing is taken from.

``parse(x).render() == x`` for every ``x``. A section that is added leaves the bytes before it as
they are but for ``words`` and ``themes`` of the front matter; what is read of it equals what was
written, and no text can begin a section of its own. A section that a person began with a heading of
their own is one as well. What cannot be written is refused, with what could; a secret is hidden
before anything is written, and its kind is reported, never its value.

A section of ours begins with ``## 10:15 <!-- by:agent at:2026-02-27T10:15:00Z -->``. In its text
what would be a heading or a comment is escaped with a backslash, as markdown has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Final, Literal, NamedTuple, get_args
from urllib.parse import unquote

from engramdown.errors import InvalidNoteError
from engramdown.forks import cached_property
from engramdown.language.words import spaced
from engramdown.markdown.front_matter import FrontMatter, fold, parse_strict
from engramdown.transcripts.episode import check_session_id

Author = Literal["person", "agent"]

_OURS: Final = re.compile(
    r"## ((?:Written [0-9]{4}-[0-9]{2}-[0-9]{2} )?[0-9]{2}:[0-9]{2}) "
    r"<!-- by:(person|agent)((?: [a-z]++:[^\s>]*+)*+) -->[ \t\r]*\Z"
)
_HEADING: Final = re.compile(r"##(?=[ \t\r]|\Z)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
# What would be a heading of a page, with the backslashes that it has already.
_TITLE: Final = re.compile(r"( {0,3})(\\*#{1,2}(?:[ \t\r]|\Z))")
_RULE: Final = re.compile(r"(\\*)(?:---|\.\.\.)[ \t]*\Z")
_OPENS: Final = re.compile(r"<(\\*!--)")
_OPENED: Final = re.compile(r"<\\(\\*!--)")
_LONE: Final = re.compile("[\ud800-\udfff]")
_ENDS: Final = re.compile(r"(?<!\r)\r++\n")
_BLANK: Final = re.compile(r"\A(?:[ \t\r]*\n)+")
_UNSAFE: Final = re.compile(r"[^\w./+:@-]|(?<=-)-", re.ASCII)


class Section(NamedTuple):
    """What was written at once.

    Attributes:
        heading: The time as the clock on the wall had it, ``Written`` with the day and the time on
            the page of a day that had passed, or what a person wrote; ``""`` for what is above
            the first heading.
        text: What was written.
        by: Who wrote it; ``person`` for what nobody signed.
        at: The moment, in UTC, or ``""``.
        session: The session in which it was written, or ``""``.
        themes: What it is about.
        line: Its line on the page, counted from 1.
    """

    heading: str
    text: str
    by: Author = "person"
    at: str = ""
    session: str = ""
    themes: tuple[str, ...] = ()
    line: int = 0


class Page:
    """The page of a day.

    Attributes:
        front: Its front matter and what is below.
    """

    def __init__(self, front: FrontMatter) -> None:
        """Take the parts as they are."""
        self.front = front

    def render(self) -> str:
        """Return the text."""
        return self.front.render()

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The sections in the order of the page, without empty ones that have no heading."""
        return tuple(_sections(self.front))

    @property
    def words(self) -> int:
        """How many words the sections have; each character counts where no spaces are written."""
        return sum(len(spaced(section.text).split()) for section in self.sections)

    @property
    def themes(self) -> tuple[str, ...]:
        """What the day is about: what its front matter says, then what its sections say."""
        each = (theme for section in self.sections for theme in section.themes)
        known = {fold(theme): theme for theme in reversed([*self.front.items("themes"), *each])}
        return tuple(reversed(known.values()))

    @property
    def is_locked(self) -> bool:
        """Whether a person closed the day: ``locked: true``."""
        return self.front.text("locked").lower() == "true"

    def with_section(self, section: Section) -> Page:
        """Return the page with another section at its end."""
        front = self.front
        end = front.line_end
        lines = normalized(section.text).split("\n")
        shown = end.join(_guarded(line, is_open=front.is_open) for line in lines)
        fields = {
            "at": _safe(section.at),
            "session": _safe(section.session),
            "themes": ",".join(map(_safe, section.themes)),
        }
        said = "".join(f" {key}:{value}" for key, value in fields.items() if value)
        heading = f"## {section.heading} <!-- by:{section.by}{said} -->"
        body = front.body + _gap(front, end) + f"{heading}{end}{end}{shown}{end}"
        longer = Page(front._replace(body=body))
        counted = longer.front.with_number("words", longer.words)
        return Page(counted.with_items("themes", section.themes))


def parse(text: str) -> Page:
    """Parse the text of a page."""
    return Page(parse_strict(text))


def blank_page(day: date, before: str = "") -> Page:
    r"""Return a page that nothing was written on yet.

    Args:
        day: Which day it is.
        before: What is in the file: nothing, or a byte order mark.

    >>> blank_page(date(2026, 2, 27)).render()
    '---\ndate: 2026-02-27\nwords: 0\n---\n'
    """
    return parse(f"{before}---\ndate: {day.isoformat()}\nwords: 0\n---\n")


def normalized(text: str) -> str:
    r"""Return a text as it is kept: line ends are ``\n``, and no blank lines around it.

    >>> normalized("\r\n  one\r\ntwo \n\n")
    '  one\ntwo'
    """
    text = _LONE.sub("\ufffd", _ENDS.sub("\n", text)).rstrip(" \t\r\n")
    return _BLANK.sub("", text)


# ---- reading ----


def _sections(front: FrontMatter) -> Iterator[Section]:
    first = front._replace(body="").render().count("\n") + 1
    begun, rows = Section("", "", line=first), list[str]()
    ours = False
    for number, line, found in _lines(front.body, first):
        if not found:
            rows.append(line)
            continue
        yield from _done(begun, rows, ours=ours)
        signed = _OURS.match(line)
        ours, rows = signed is not None, []
        begun = _begun(signed, line)._replace(line=number)
    yield from _done(begun, rows, ours=ours)


def _lines(body: str, first: int) -> Iterator[tuple[int, str, bool]]:
    """Yield each line with its number, and whether a section begins with it."""
    fence = ""
    for number, line in enumerate(body.split("\n"), first):
        found = _OURS.match(line) is not None or (not fence and _HEADING.match(line) is not None)
        fence = "" if found else _fence(fence, line)
        yield number, line, found


def _fence(fence: str, line: str) -> str:
    """Return the fence that is open behind a line, if ``fence`` is before it."""
    found = _FENCE.match(line)
    if not fence:
        return found[1] if found else ""
    closes = found and found[1].startswith(fence) and not line[found.end() :].strip(" \t\r")
    return "" if closes else fence


def _done(begun: Section, rows: list[str], *, ours: bool) -> Iterator[Section]:
    text = normalized("\n".join(rows))
    if text or begun.heading or ours:
        yield begun._replace(text="\n".join(map(_bare, text.split("\n"))) if ours else text)


def _begun(signed: re.Match[str] | None, line: str) -> Section:
    """Return the section that a heading begins: one of ours, which is signed, or a person's."""
    if signed is None:
        said = line[2:].strip()
        if said.endswith("-->"):
            said = (said[: said.rfind("<!--")] if "<!--" in said else said).strip()
        return Section(said, "")
    fields = dict(field.split(":", 1) for field in signed[3].split())
    at, session = (unquote(fields.get(name, "")) for name in ("at", "session"))
    themes = tuple(filter(None, map(unquote, fields.get("themes", "").split(","))))
    by: Author = "agent" if signed[2] == "agent" else "person"
    return Section(signed[1], "", by, at, session, themes)


# ---- writing ----


def _gap(front: FrontMatter, end: str) -> str:
    """Return what separates a heading from what comes before it: a blank line."""
    before = front.body
    if not before:
        return end if front.closing.endswith("\n") else end * 2 if front.closing else ""
    if not before.endswith("\n"):
        return end * 2
    return "" if re.search(r"\n[ \t\r]*\n\Z", before) else end


def _safe(value: str) -> str:
    """Return a value without what would end a word, a list or a comment."""

    def percent(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))

    return _UNSAFE.sub(percent, value)


def _guarded(line: str, *, is_open: bool) -> str:
    line = _OPENS.sub(r"<\\\1", line)
    rule = _RULE.match(line)
    if rule is not None and (rule[1] or is_open):
        return f"\\{line}"
    return _TITLE.sub(r"\1\\\2", line, count=1) if _TITLE.match(line) else line


def _bare(line: str) -> str:
    line = _OPENED.sub(r"<\1", line)
    rule = _RULE.match(line)
    if rule is not None and rule[1]:
        return line[1:]
    found = _TITLE.match(line)
    if found is not None and found[2].startswith("\\"):
        return found[1] + line[len(found[1]) + 1 :]
    return line


SUFFIX: Final = ".md"

_NAME: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.md")
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def file_of(day: date) -> str:
    """Return the name of the file of a day.

    >>> file_of(date(2026, 2, 27))
    '2026-02-27.md'
    """
    return f"{day.isoformat()}{SUFFIX}"


def day_of(name: str) -> date | None:
    """Return the day of a file of this name, or ``None`` for another file.

    >>> day_of("2026-02-27.md"), day_of("2026-02-30.md"), day_of("notes.md")
    (datetime.date(2026, 2, 27), None, None)
    """
    found = _NAME.fullmatch(name)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def title(day: date, today: date) -> str:
    """Return what a day is called: ``Today``, ``Yesterday`` or ``Monday, January 2``.

    >>> title(date(2026, 2, 26), date(2026, 2, 27)), title(date(2026, 1, 2), date(2026, 2, 27))
    ('Yesterday', 'Friday, January 2')
    """
    ago = today.toordinal() - day.toordinal()
    if ago in (0, 1):
        return ("Today", "Yesterday")[ago]
    return f"{_DAYS[day.weekday()]}, {_MONTHS[day.month - 1]} {day.day}"


# Characters of a section, or of notes, at most.
LONGEST: Final = 100_000
_THEME: Final = 60
_THEMES: Final = 20
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


def draft_entry(
    said: Section, when: datetime, day: date | None
) -> tuple[date, Section, tuple[str, ...]]:
    """Return the day to write to, the section, and the kinds of hidden secrets.

    Args:
        said: What somebody wants to say, without a heading.
        when: When, as the clock on the wall had it.
        day: To the page of which day that has passed, or ``None`` for that of ``when``. The heading
            then says when it was written.

    Raises:
        InvalidNoteError: If it cannot be written, or the day is to come.
        InvalidSessionError: If the session is invalid.
    """
    if said.by not in get_args(Author):
        raise InvalidNoteError("by", f"{said.by!r} is not one of {', '.join(get_args(Author))}")
    if said.session:
        check_session_id(said.session)
    kept, hidden = without_secrets("text", said.text)
    if not kept:
        raise InvalidNoteError("text", "is empty; say what to keep")
    heading, today = f"{when:%H:%M}", when.date()
    themes = _themes(said.themes)
    if day is not None and day > today:
        reason = f"{day} is still to come; give today, {today}, or a day before"
        raise InvalidNoteError("date", reason)
    if day is not None and day != today:
        heading = f"Written {today} {heading}"
    return day or today, said._replace(heading=heading, text=kept, themes=themes), hidden


def without_secrets(field: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text as it is kept, and the kinds of the secrets that were hidden in it.

    Raises:
        InvalidNoteError: If it is too long.
    """
    # Imported here: it compiles many patterns, and reading needs none.
    from engramdown.secrets.redaction import find_secrets, redact

    # Of a text that is too long, no more is looked at than necessary.
    if len(text) > 2 * LONGEST or len(kept := normalized(text)) > LONGEST:
        reason = f"has {len(text):,} characters, {LONGEST:,} are allowed; write it in parts"
        raise InvalidNoteError(field, reason)
    hidden = tuple(dict.fromkeys(secret.kind for secret in find_secrets(kept)))
    return (normalized(redact(kept)) if hidden else kept), hidden


def _themes(themes: Iterable[str]) -> tuple[str, ...]:
    """Return themes as they are kept, each once.

    Raises:
        InvalidNoteError: If one is empty, too long or a secret, or there are too many.
    """
    known: dict[str, str] = {}
    for theme in themes:
        plain = " ".join(_UNSEEN.sub(" ", theme).split())
        if not plain or len(plain) > _THEME:
            reason = f"{plain[:_THEME]!r} is empty or longer than {_THEME} characters"
            raise InvalidNoteError("theme", f"{reason}; give a word or two")
        if without_secrets("theme", plain)[1]:
            raise InvalidNoteError("theme", "holds a secret; give a word or two")
        known.setdefault(fold(plain), plain)
    if len(known) > _THEMES:
        raise InvalidNoteError("theme", f"there are {len(known)}, {_THEMES} are allowed")
    return tuple(known.values())
