"""The journal of one scope: a file for each day, which people and assistants add to.

A section that was acknowledged is on the disk, behind those before it, however many write at once
and whoever saves the page meanwhile; nothing on the page is changed but for the word count
and the themes of the front matter; no secret is written. Reading takes no lock and creates nothing,
and a page that cannot be read hides no other.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from engramdown.clock import local, moment
from engramdown.errors import EngramdownError, StoreError
from engramdown.journal.page import (
    Author,
    Page,
    Section,
    blank_page,
    day_of,
    draft_entry,
    file_of,
    parse,
    title,
)
from engramdown.journal.page_search import excerpt, find_exact, may_match, query_stems, ranked
from engramdown.settings import LOCK_TIMEOUT
from engramdown.storage.disk import Disk, named_errors
from engramdown.storage.exchange import Swap, in_order
from engramdown.storage.locks import ScopeLock

# The name of the folder in that of a scope.
FOLDER: Final = "journal"

_FEW: Final = 31


class Written(NamedTuple):
    """Where a section was written.

    Attributes:
        path: The file of its day.
        day: The day.
        section: The section as it was written, with its line.
        hidden: The kinds of secrets that were hidden before it was written.
        before: What the file held before, ``""`` for none.
        after: What it holds now, or would hold.
    """

    path: Path
    day: date
    section: Section
    hidden: tuple[str, ...]
    before: str
    after: str


class Day(NamedTuple):
    """A day of the journal.

    Attributes:
        date: Which day.
        path: Its file.
        page: Its page; empty if it cannot be read.
        problem: Why it cannot be read, or ``""``.
    """

    date: date
    path: Path
    page: Page
    problem: str = ""

    @property
    def sections(self) -> tuple[Section, ...]:
        """What was written, in the order of the page."""
        return self.page.sections

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written."""
        return not any(section.text or section.heading for section in self.sections)


class Match(NamedTuple):
    """A section that answers a question.

    Attributes:
        date: Its day.
        path: The file of that day.
        section: The section.
        piece: Why it was found, in 250 characters at most.
        score: How well it answers; comparable within one search only.
    """

    date: date
    path: Path
    section: Section
    piece: str
    score: float


class Recent(NamedTuple):
    """A day as a prompt shows it.

    Attributes:
        title: ``Today``, ``Yesterday`` or ``Monday, January 2``.
        date: The day.
        sections: What was written.
    """

    title: str
    date: date
    sections: tuple[Section, ...]

    @property
    def heading(self) -> str:
        """What the day is called, with its date."""
        return f"{self.title} ({self.date.isoformat()})"

    @property
    def text(self) -> str:
        """All that was written, each section below its heading."""
        return "\n\n".join("\n".join(filter(None, each[:2])) for each in self.sections)


def recent_of(days: Iterable[Day], today: date) -> list[Recent]:
    """Return days as a prompt shows them on ``today``, without blank ones."""
    written = [day for day in days if not day.is_blank]
    return [Recent(title(day.date, today), day.date, day.sections) for day in written]


class Clock:
    """The local clock of the person, by which the days of the journal begin.

    Attributes:
        notice: Why another zone counts than the one that was asked for, or ``""``.
    """

    def __init__(self, zone: str = "") -> None:
        """Follow the zone of this IANA name, or by default the system."""
        self._zone: tzinfo | None = None
        self.notice = ""
        if zone:
            # Imported here: hardly anybody sets another zone.
            from zoneinfo import ZoneInfo

            try:
                self._zone = ZoneInfo(zone)
            except (ValueError, OSError, LookupError):  # no such name, no name, or no zones at all
                self.notice = f"timezone {zone!a} is not known here; the clock of the system counts"

    def local(self, moment: datetime) -> datetime:
        """Return a moment as the clock on the wall shows it; without a zone it is that already."""
        if self._zone is None:
            return local(moment)
        return moment.astimezone(self._zone) if moment.tzinfo else moment.replace(tzinfo=self._zone)


class Journal:
    """The journal of one scope.

    Attributes:
        root: The folder of the scope, an ``.engramdown`` folder.
        folder: Where the pages are.
        clock: By which a day begins.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder))
    ...     where = journal.write("Moved the deploys to Monday.", themes=["deploys"])
    ...     [match.section.text for match in journal.search("deploy")]
    ['Moved the deploys to Monday.']
    """

    def __init__(
        self,
        root: Path,
        *,
        zone: str = "",
        disk: Disk | None = None,
        lock_timeout: float = LOCK_TIMEOUT,
        hide: Callable[[list[Path]], Collection[Path]] | None = None,
    ) -> None:
        """Open the journal of a scope; nothing is created before the first section.

        Args:
            root: The ``.engramdown`` folder of the scope.
            zone: The IANA name of the zone in which days begin, by default that of the system.
            disk: The system calls; durable, 16 MB a file, unless given.
            lock_timeout: How long to wait for other writers, in seconds.
            hide: Is given the files of days, and returns those that must not be listed or found.
        """
        self.root = root
        self.folder = root / FOLDER
        self.clock = Clock(zone)
        self._disk = disk or Disk()
        self._swap = Swap(self._disk)
        self._hide = hide
        # Beside the folder, not in it: journal/ is for git, and what else is here is not.
        self._lock = ScopeLock(root / "journal.lock", lock_timeout)

    # ---- writing ----

    def write(
        self,
        text: str,
        *,
        by: Author = "person",
        themes: Iterable[str] = (),
        session: str = "",
        at: datetime | None = None,
        day: date | None = None,
        dry_run: bool = False,
    ) -> Written:
        """Add a section to the page of its day, and return where it is.

        Args:
            text: What to write; secrets in it are hidden.
            by: Who writes.
            themes: What it is about, a word or two each.
            session: The session in which it is written, or ``""``.
            at: When it was, if not now; without a zone as the clock on the wall has it.
            day: To the page of which day, if not that on which it is written: one that has passed.
                The heading then says when it was written.
            dry_run: Whether to return where it would stand, and write nothing.

        Raises:
            InvalidNoteError: If it is empty or too long, a theme is invalid, or the day is to come.
            InvalidSessionError: If the session is invalid.
            EngramdownError: If a person locked that day.
            StoreError: If it could not be written.
        """
        when = at or _now()
        here = self.clock.local(when)
        # Of an hour that comes twice only the moment knows which one it was.
        utc = (when if when.tzinfo else here).astimezone(UTC)
        stamp = utc.isoformat(timespec="seconds").replace("+00:00", "Z")
        said = Section("", text, by, stamp, session, tuple(themes))
        to, drafted, hidden = draft_entry(said, here, day)
        path = self.path(to)
        before = ""

        def added(data: bytes | None) -> bytes:
            nonlocal before
            before = (data or b"").decode("utf-8", "surrogateescape")
            page = parse(before)
            if not before.strip("\ufeff"):
                page = blank_page(to, before)
            if page.is_locked:
                next_step = "take `locked: true` out of its front matter, or write to another day"
                raise EngramdownError(f"{path}: is locked; nothing was written: {next_step}")
            return page.with_section(drafted).render().encode("utf-8", "surrogateescape")

        if dry_run:
            data = added(self._read(path))
        else:
            with self.alone():
                data = self._swap.edit(path, added)
        after = data.decode("utf-8", "surrogateescape")
        return Written(path, to, parse(after).sections[-1], hidden, before, after)

    def tidy(self) -> None:
        """Sweep up what a crash left; takes the lock only if there is something.

        Raises:
            StoreError: If it cannot be put in order.
        """
        with named_errors(self.folder, "read"):
            found = next(self._swap.leftovers(self.folder), None)
        if found is not None:
            with self.alone():
                pass  # Taking the lock tidies.

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others from writing in a ``with`` block, with the folder in order.

        Raises:
            StoreError: If it cannot be written to, or somebody else writes for too long.
        """
        with in_order(self._disk, self.folder, self.root, self._lock.hold()):
            self._swap.tidy(self.folder)
            yield

    # ---- reading ----

    def today(self) -> date:
        """Return the present day."""
        return self.clock.local(_now()).date()

    def day_named(self, text: str) -> date:
        """Return the day that a person names: 2026-02-27, today or yesterday.

        Raises:
            ValueError: If that is no day.
        """
        ago = {"today": 0, "yesterday": 1}.get(text.lower())
        try:
            return date.fromisoformat(text) if ago is None else self.today() - timedelta(days=ago)
        except ValueError:
            form = "give 2026-02-27, today or yesterday"
            raise ValueError(f"{text!r} is not a day; {form}") from None

    def path(self, day: date) -> Path:
        """Return the file of a day; it need not be there.

        Raises:
            StoreError: If a link leads out of the scope.
        """
        return self._disk.inside(self.folder / file_of(day), self.root)

    def day(self, day: date) -> Day | None:
        """Return a day, or ``None`` if it has no page.

        Raises:
            StoreError: If the page cannot be read.
        """
        path = self.path(day)
        data = self._read(path)
        if data is None:
            return None
        return Day(day, path, parse(data.decode("utf-8", "surrogateescape")))

    def days(self, limit: int | None = 10) -> list[Day]:
        """Return the days that have a page, the newest first; ``None`` for all.

        Raises:
            StoreError: If the folder cannot be read.
        """
        return [day for each in self._dates()[:limit] if (day := self._looked_at(each))]

    def lately(self, lookback_days: int, today: date) -> list[Day]:
        """Return the pages of these days, the newest first, also what cannot be read.

        Raises:
            ValueError: If ``lookback_days`` is negative.
            StoreError: If the folder cannot be read.
        """
        if lookback_days < 0:
            raise ValueError(f"lookback_days is {lookback_days}; give 0 or more")
        first = date.fromordinal(max(today.toordinal() - lookback_days, 1))
        if lookback_days < _FEW:
            # Asked for every turn, however many days there are.
            span = range(today.toordinal(), first.toordinal() - 1, -1)
            dates = self._shown([date.fromordinal(each) for each in span])
        else:
            dates = [each for each in self._dates() if first <= each <= today]
        return [day for each in dates if (day := self._looked_at(each))]

    def search(
        self,
        query: str,
        limit: int = 5,
        *,
        exact: bool = False,
        since: date | str | None = None,
        until: date | str | None = None,
    ) -> list[Match]:
        """Return the sections that answer ``query``, the best first; any text is a query.

        Args:
            query: Words, among which a day, ``2026-02-27``, is one; for ``exact`` the very string,
                capitals or not, newest first.
            limit: How many at most.
            exact: Whether to look for the string as it is.
            since: The earliest day, also as ISO 8601. Of a time the day counts that it is on by
                ``clock``; without a zone it is UTC.
            until: The latest day, which belongs to it.

        Raises:
            StoreError: If the folder cannot be read.
            ValueError: If a day is invalid.
        """
        first = date.min if since is None else self._day("since", since)
        last = date.max if until is None else self._day("until", until)
        dates = [each for each in self._dates() if first <= each <= last]
        stems, found = query_stems(query), []
        for day in filter(None, map(self._looked_at, reversed(dates))):
            if exact or may_match(f"{day.date:%Y%m%d} {day.page.render()}", stems):
                found += [(day, section) for section in day.sections]
        texts = [
            f"{day.date:%Y%m%d} {each.heading}\n{each.text}\n{' '.join(each.themes)}"
            for day, each in found
        ]
        hits = find_exact(query, texts) if exact else ranked(stems, texts)
        matches = []
        for at, score in hits[: max(limit, 0)]:
            day, section = found[at]
            shown = excerpt(" ".join(section.text.split()), query, stems)
            matches.append(Match(day.date, day.path, section, shown, score))
        return matches

    def _day(self, name: str, value: date | str) -> date:
        """Return the day of a date or a time that a caller gives."""
        # Imported here: hardly anybody who writes a page asks for a range.
        from engramdown.recall.query import time_from

        found = time_from(name, value)
        if not isinstance(found, datetime):
            return found
        moment = found if found.tzinfo else found.replace(tzinfo=UTC)
        try:
            return self.clock.local(moment).date()
        except OverflowError:  # In the year 1 or 9999 there may be none here.
            return found.date()

    def _dates(self) -> list[date]:
        """Return the days that have a file, the newest first."""
        with named_errors(self.folder, "read"):
            self._disk.inside(self.folder, self.root)
            found = map(day_of, self._disk.names(self.folder))
            days = sorted((day for day in found if day is not None), reverse=True)
        return self._shown(days)

    def _shown(self, days: list[date]) -> list[date]:
        if self._hide is None:
            return days
        paths = {self.folder / file_of(day): day for day in days}
        hidden = self._hide(list(paths))
        return [day for path, day in paths.items() if path not in hidden]

    def _looked_at(self, day: date) -> Day | None:
        try:
            return self.day(day)
        except StoreError as error:
            return Day(day, self.folder / file_of(day), parse(""), str(error))

    def _read(self, path: Path) -> bytes | None:
        with named_errors(path, "read"):
            return self._disk.read(path)


def _now() -> datetime:
    return datetime.fromisoformat(moment()).astimezone(UTC)
