"""The journal of a scope: whoever adds to a day, nothing of it is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time

from engramdown.errors import (
    EngramdownError,
    InvalidNoteError,
    InvalidSessionError,
    LockTimeoutError,
    StoreError,
)
from engramdown.journal.journal import Journal, Recent, recent_of
from engramdown.journal.page import LONGEST, parse
from engramdown.storage import exchange
from engramdown.storage.disk import ClosedDisk, Disk
from engramdown.storage.locks import take, unlock
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import STYLES, save
from tests.tables import every

DAY = date(2026, 2, 27)
NOON = datetime(2026, 2, 27, 12, 5, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the person live in Greenwich, and wait no longer than a test has to."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setattr(exchange, "_SETTLE_OPEN", 0.05)
    monkeypatch.setattr(exchange, "_SETTLE_GONE", 0.05)
    yield
    monkeypatch.undo()
    time.tzset()


def opened(root: Path, disk: Disk | None = None, zone: str = "") -> Journal:
    return Journal(root, zone=zone, disk=disk or Disk(durable=False), lock_timeout=5.0)


def texts(journal: Journal, day: date = DAY) -> list[str]:
    found = journal.day(day)
    assert found is not None
    return [section.text for section in found.sections]


def names(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "journal").iterdir())


# ---- writing ----


@freeze_time(NOON)
def test_a_section_is_written_to_the_page_of_today(tmp_path: Path) -> None:
    where = Journal(tmp_path).write("Moved the deploys.", by="agent", session="s-1", themes=["CI"])
    assert where.path == tmp_path / "journal/2026-02-27.md"
    assert (
        where.path.read_text(encoding="utf-8")
        == where.after
        == (
            "---\ndate: 2026-02-27\nwords: 3\nthemes: [CI]\n---\n\n"
            "## 12:05 <!-- by:agent at:2026-02-27T12:05:00Z session:s-1 themes:CI -->\n\n"
            "Moved the deploys.\n"
        )
    )
    assert (where.day, where.section.line, where.hidden, where.before) == (DAY, 7, (), "")
    assert where.path.stat().st_mode & 0o777 == 0o600
    assert where.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_later_write_keeps_the_sections_before_it(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for number in range(3):
        journal.write(f"entry {number}", at=NOON)
    path = journal.path(DAY)
    path.write_text(f"{path.read_text(encoding='utf-8')}\nBy hand.\n", encoding="utf-8")
    journal.write("entry 3", at=NOON)
    assert texts(journal) == ["entry 0", "entry 1", "entry 2\n\nBy hand.", "entry 3"]
    assert parse(path.read_text(encoding="utf-8")).front.text("words") == "10"


def test_a_page_that_a_person_began_keeps_what_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "journal/2026-02-27.md"
    path.parent.mkdir()
    mine = b"\xef\xbb\xbf---\r\nmood: fine # really\r\n---\r\nWoke up \xff early.\r\n"
    path.write_bytes(mine)
    opened(tmp_path).write("Lunch.", themes=["food"], at=NOON)
    head, said = mine.split(b"really\r\n")
    assert path.read_bytes() == (
        head
        + b"really\r\nwords: 5\r\nthemes: [food]\r\n"
        + said
        + b"\r\n## 12:05 <!-- by:person at:2026-02-27T12:05:00Z themes:food -->\r\n\r\nLunch.\r\n"
    )


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
def test_an_empty_file_gets_a_front_matter(tmp_path: Path, before: bytes) -> None:
    path = tmp_path / "journal/2026-02-27.md"
    path.parent.mkdir()
    path.write_bytes(before)
    opened(tmp_path).write("Lunch.", at=NOON)
    assert path.read_bytes().startswith(before + b"---\ndate: 2026-02-27\nwords: 1\n---\n")


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    told = opened(tmp_path).write("Lunch.", at=NOON, dry_run=True)
    assert not told.path.exists()
    assert list(tmp_path.iterdir()) == []
    written = opened(tmp_path).write("Lunch.", at=NOON)
    assert (told.after, told.section) == (written.after, written.section)


def test_a_secret_is_hidden_and_told(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    where = journal.write(f"The token is {TOKEN} now.", by="agent", at=NOON)
    assert where.hidden == ("GitHub token",)
    assert TOKEN not in where.path.read_text(encoding="utf-8")
    assert texts(journal) == ["The token is [redacted: GitHub token] now."]
    with pytest.raises(InvalidNoteError, match="theme: holds a secret"):
        journal.write("fine", themes=[TOKEN])


@pytest.mark.parametrize("text", ["", " \n\t", "\r\n", "\ufeff"[1:]])
def test_nothing_is_not_written(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidNoteError, match="text: is empty; say what to keep"):
        opened(tmp_path).write(text)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [LONGEST + 1, 3 * LONGEST])
def test_a_text_has_a_bound(tmp_path: Path, size: int) -> None:
    with pytest.raises(InvalidNoteError, match="100,000 are allowed; write it in parts"):
        opened(tmp_path).write("x" * size)
    opened(tmp_path).write("x " * (LONGEST // 2), at=NOON)


@pytest.mark.parametrize(
    "themes, wrong",
    [
        (["x" * 61], "longer than 60"),
        ([" "], "is empty"),
        ([f"t{n}" for n in range(21)], "there are 21, 20 are allowed"),
    ],
)
def test_a_theme_is_a_word_or_two(tmp_path: Path, themes: list[str], wrong: str) -> None:
    with pytest.raises(InvalidNoteError, match=wrong):
        opened(tmp_path).write("x", themes=themes)


def test_themes_are_kept_once(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    where = journal.write("x", themes=["CI", "ci ", "code\n review"], at=NOON)
    assert where.section.themes == ("CI", "code review")
    day = journal.day(DAY)
    assert day is not None
    assert day.page.front.items("themes") == ("CI", "code review")


def test_who_writes_and_where_is_checked(tmp_path: Path) -> None:
    with pytest.raises(InvalidNoteError, match="'robot' is not one of person, agent"):
        opened(tmp_path).write("x", by="robot")  # type: ignore[arg-type] # as said above
    with pytest.raises(InvalidSessionError):
        opened(tmp_path).write("x", session="../x")


def test_a_day_that_a_person_locked_is_left_alone(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    path = journal.write("x", at=NOON).path
    locked = path.read_text(encoding="utf-8").replace("words: 1\n", "words: 1\nlocked: true\n")
    path.write_text(locked, encoding="utf-8")
    with pytest.raises(EngramdownError, match=r"2026-02-27\.md: is locked; nothing was written"):
        journal.write("y", at=NOON)
    with pytest.raises(EngramdownError, match="is locked"):
        journal.write("y", at=NOON, dry_run=True)
    assert path.read_text(encoding="utf-8") == locked
    assert names(tmp_path) == ["2026-02-27.md"]


# ---- the clock ----


@freeze_time(DAY)  # The clock that stands still is moved for less than one that goes.
@every(
    "zone, at, day, clock",
    [
        ("Europe/Berlin", "2026-02-27T23:30:00+00:00", "2026-02-28", "00:30"),
        ("America/New_York", "2026-02-27T04:59:00+00:00", "2026-02-26", "23:59"),
        # The hour that comes twice, and the one that never comes.
        ("Europe/Berlin", "2026-10-25T00:30:00+00:00", "2026-10-25", "02:30"),
        ("Europe/Berlin", "2026-10-25T01:30:00+00:00", "2026-10-25", "02:30"),
        ("Europe/Berlin", "2026-10-25T22:59:00+00:00", "2026-10-25", "23:59"),
        ("Europe/Berlin", "2026-10-25T23:00:00+00:00", "2026-10-26", "00:00"),
        ("Europe/Berlin", "2026-03-29T01:00:00+00:00", "2026-03-29", "03:00"),
        ("Europe/Berlin", "2026-03-29T21:59:00+00:00", "2026-03-29", "23:59"),
        ("Europe/Berlin", "2026-03-29T22:00:00+00:00", "2026-03-30", "00:00"),
        ("", "2026-02-27T23:30:00+00:00", "2026-02-27", "23:30"),
        ("Mars/Olympus", "2026-02-27T23:30:00+00:00", "2026-02-27", "23:30"),
        ("../etc/passwd", "2026-02-27T23:30:00+00:00", "2026-02-27", "23:30"),
    ],
)
def test_a_day_begins_where_the_person_is(
    fresh_folders: Iterator[Path], zone: str, at: str, day: str, clock: str
) -> None:
    journal = opened(next(fresh_folders), zone=zone)
    with freeze_time(at):
        assert journal.today().isoformat() == day
        where = journal.write("x")
    assert (where.day.isoformat(), where.section.heading) == (day, clock)
    assert where.section.at == at.replace("+00:00", "Z")
    assert bool(journal.clock.notice) == zone.startswith(("Mars", ".."))


def test_a_time_without_a_zone_is_that_of_the_wall(tmp_path: Path) -> None:
    wall = datetime(2026, 2, 27, 9, 30)  # noqa: DTZ001 - the point
    for zone, stamp in (("Europe/Berlin", "08:30"), ("", "09:30")):
        where = opened(tmp_path, zone=zone).write("x", at=wall)
        assert where.section.heading == "09:30"
        assert where.section.at == f"2026-02-27T{stamp}:00Z"


# ---- reading ----


def recent(journal: Journal, lookback_days: int = 2, today: date | None = None) -> list[Recent]:
    now = today or journal.today()
    return recent_of(journal.lately(lookback_days, now), now)


def test_reading_creates_nothing(tmp_path: Path) -> None:
    journal = opened(tmp_path / "none")
    assert [*journal.days(), *recent(journal), *journal.search("x")] == []
    assert journal.day(DAY) is None
    journal.tidy()
    assert list(tmp_path.iterdir()) == []


def test_days_are_listed_newest_first(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for day in range(1, 13):
        journal.write(f"day {day}", at=NOON.replace(day=day))
    for name in ("notes.md", "2026-02-30.md", "2026-02-27.md~", ".2026-02-27.md.swp"):
        (tmp_path / "journal" / name).write_text("x", encoding="utf-8")
    (tmp_path / "journal/2026-02-28.md").mkdir()
    assert [day.date.day for day in journal.days()] == list(range(12, 2, -1))
    assert [day.date.day for day in journal.days(2)] == [12, 11]
    assert len(journal.days(None)) == 12


def test_a_page_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.write("deploys", at=NOON)
    journal.path(date(2026, 2, 26)).symlink_to(tmp_path / "journal/2026-02-27.md")
    os.mkfifo(journal.path(date(2026, 2, 25)))
    found = journal.days()
    assert [bool(day.problem) for day in found] == [False, False, True]
    assert "is a pipe or a device" in found[2].problem
    assert recent(journal, 5, DAY)[0].date == DAY
    assert {match.date.day for match in journal.search("deploy")} == {26, 27}
    with pytest.raises(StoreError, match="is a pipe or a device"):
        journal.day(date(2026, 2, 25))


def test_no_link_leads_out_of_the_scope(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "2026-02-27.md").write_text("secret", encoding="utf-8")
    root = tmp_path / "root"
    root.mkdir()
    (root / "journal").symlink_to(outside)
    for act in (journal_days, journal_write):
        with pytest.raises(StoreError, match="is a link that leaves"):
            act(opened(root))
    (root / "journal").unlink()
    (root / "journal").mkdir()
    (root / "journal/2026-02-27.md").symlink_to(outside / "2026-02-27.md")
    assert [bool(day.problem) for day in opened(root).days()] == [True]
    with pytest.raises(StoreError, match="is a link that leaves"):
        journal_write(opened(root))
    assert (outside / "2026-02-27.md").read_text(encoding="utf-8") == "secret"


def journal_days(journal: Journal) -> object:
    return journal.days()


def journal_write(journal: Journal) -> object:
    return journal.write("x", at=NOON)


def test_the_last_days_are_told_as_a_person_calls_them(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for day in (23, 24, 25, 26, 27):
        journal.write(f"day {day}", by="agent", at=NOON.replace(day=day))
    journal.path(date(2026, 2, 26)).write_text("---\ndate: x\n---\n \n", encoding="utf-8")
    journal.write("tomorrow", at=NOON.replace(day=28))
    found = recent(journal, 3, DAY)
    assert [day.heading for day in found] == [
        "Today (2026-02-27)",
        "Wednesday, February 25 (2026-02-25)",
        "Tuesday, February 24 (2026-02-24)",
    ]
    assert found[0].text == "12:05\nday 27"
    journal.write("again", at=NOON.replace(day=26))
    with freeze_time(NOON):
        assert [day.title for day in recent(journal)] == [
            *("Today", "Yesterday", "Wednesday, February 25")
        ]
        assert [day.title for day in recent(journal, 0)] == ["Today"]
    assert len(recent(journal, 10**9, DAY)) == 5
    with pytest.raises(ValueError, match="lookback_days is -1; give 0 or more"):
        recent(journal, -1)


def test_what_was_written_is_found(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.write("Lunch with Ann about the budget.", themes=["people"], at=NOON)
    journal.write("The deploys moved to Monday. " + "x " * 200, at=NOON)
    journal.write("Deployed, at last.", by="agent", at=NOON.replace(day=28))
    assert [hit.section.text[:8] for hit in journal.search("when do we deploy?")] == [
        *("Deployed", "The depl")
    ]
    assert [hit.date for hit in journal.search("people")] == [DAY]
    assert [hit.date.day for hit in journal.search("2026-02-28")] == [28]
    assert {hit.section.line for hit in journal.search("on 2026-02-27?")} == {7, 11}
    assert [hit.section.line for hit in journal.search("2026-02-27 Ann")] == [7, 11]
    assert {hit.date.day for hit in journal.search("2026-02-28 Ann")} == {27, 28}
    assert journal.search("2026-02-26") == journal.search("v2026-02-28-1") == []
    first = journal.search("moved to monday")[0]
    assert len(first.piece) == 250
    assert (first.path, first.section.line) == (journal.path(DAY), 11)
    assert len(journal.search("deploys", 1)) == 1
    assert journal.search("deploys", 0) == journal.search("nothing like it") == []
    assert journal.search("") == journal.search("!!") == []


def test_what_was_written_is_found_by_its_very_words_and_days(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for day in (25, 26, 27):
        journal.write(f"Use UV on {day}", at=NOON.replace(day=day))
    assert [hit.date.day for hit in journal.search("use uv", exact=True)] == [27, 26, 25]
    assert journal.search("uv use", exact=True) == []
    assert [hit.date.day for hit in journal.search("uv", since=date(2026, 2, 26))] == [27, 26]
    assert [hit.date.day for hit in journal.search("uv", until=date(2026, 2, 26))] == [26, 25]


def test_the_days_of_a_search_may_be_texts_and_times(tmp_path: Path) -> None:
    journal = opened(tmp_path, zone="Pacific/Auckland")
    for day in (25, 26, 27):
        journal.write(f"Use uv on {day}", at=NOON.replace(day=day, hour=1))

    def found(**given: Any) -> list[int]:  # noqa: ANN401 - whatever is given
        return sorted(hit.date.day for hit in journal.search("uv", **given))

    # What is the evening of a day in Greenwich is the day after in New Zealand.
    evening = datetime(2026, 2, 25, 20, tzinfo=UTC)
    for since in ("2026-02-26", "20260226", evening, evening.replace(tzinfo=None)):
        assert found(since=since) == found(since=since, until="2026-02-27") == [26, 27], since
    assert found(until="2026-02-25T20:00:00Z") == found(until="2026-02-26T09:00+13:00") == [25, 26]
    assert found(since="0001-01-01T00:00+13:59", until="9999-12-31T23:59Z") == [25, 26, 27]
    assert found(since="2026-02-28") == found(since="2026-02-27", until="2026-02-26") == []
    for name in ("since", "until"):
        for wrong in ("yesterday", "", 5, 0):
            with pytest.raises(ValueError, match=rf"{name} is {wrong!r}; give a date, a datetime"):
                found(**{name: wrong})


# ---- others who write ----

WRITER = """\
import sys
from pathlib import Path
from engramdown.storage.disk import Disk
from engramdown.journal.journal import Journal, Recent, recent_of

journal = Journal(Path(sys.argv[1]), disk=Disk(durable=False), lock_timeout=60)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    journal.write(f"{sys.argv[2]} {number}", themes=[sys.argv[2]])
"""


@pytest.mark.slow
def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name, "15"],
            stdin=subprocess.PIPE,
            encoding="utf-8",
        )
        for name in "abcd"
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in running:
        process.communicate()
        assert process.returncode == 0
    found = [section for day in opened(tmp_path).days(None) for section in day.sections]
    assert sorted(section.text for section in found) == sorted(
        f"{name} {number}" for name in "abcd" for number in range(15)
    )
    for name in "abcd":
        own = [section.text for section in found if section.text.startswith(name)]
        assert sorted(own, key=lambda text: int(text.split()[1])) in (own, own[::-1])
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


@pytest.mark.parametrize("style", sorted(STYLES))
def test_a_save_in_between_is_not_lost(tmp_path: Path, style: str) -> None:
    path = opened(tmp_path).write("first", at=NOON).path
    saved = False

    def watch(point: Point) -> None:
        nonlocal saved
        if not saved and (point.call, point.moment) == ("exchange", "before"):
            saved = True
            save(style, path, path.read_text(encoding="utf-8") + "\nBy hand.\n")

    journal = opened(tmp_path, WatchedDisk(watch))
    journal.write("second", at=NOON)
    assert saved
    assert texts(journal) == ["first\n\nBy hand.", "second"]
    assert [name for name in names(tmp_path) if name.startswith(".")] == []


def test_who_makes_the_page_of_the_day_first_is_added_to(tmp_path: Path) -> None:
    other = opened(tmp_path)
    path = other.path(DAY)

    def watch(point: Point) -> None:
        if (point.call, point.moment) == ("publish", "before") and not path.exists():
            path.write_text("By hand.\n", encoding="utf-8")

    opened(tmp_path, WatchedDisk(watch)).write("second", at=NOON)
    assert texts(other) == ["By hand.", "second"]


def test_a_page_that_an_editor_has_put_aside_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = opened(tmp_path).write("first", at=NOON).path
    away = path.with_name(f"{path.name}~")
    path.rename(away)
    monkeypatch.setattr("time.sleep", lambda _: away.exists() and away.rename(path))
    opened(tmp_path).write("second", at=NOON)
    assert texts(opened(tmp_path)) == ["first", "second"]


def test_what_a_crash_left_is_swept_up(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    path = journal.write("first", at=NOON).path

    def watch(point: Point) -> None:
        if (point.call, point.moment) == ("exchange", "after"):
            raise KeyboardInterrupt

    broken = opened(tmp_path, WatchedDisk(watch))
    broken._swap._put_right = lambda *_: None  # type: ignore[method-assign] # a kill runs no handler
    with pytest.raises(KeyboardInterrupt):
        broken.write("second", at=NOON)
    assert len(names(tmp_path)) == 2
    journal.tidy()
    assert names(tmp_path) == [path.name]
    assert texts(journal) == ["first", "second"]


def test_a_lock_that_stays_taken_is_told(tmp_path: Path) -> None:
    journal = Journal(tmp_path, disk=Disk(durable=False), lock_timeout=0.05)
    journal.write("first", at=NOON)
    descriptor = os.open(tmp_path / "journal.lock", os.O_RDWR)
    try:
        assert take(descriptor)
        with pytest.raises(LockTimeoutError, match="nothing was written"):
            journal.write("second", at=NOON)
    finally:
        unlock(descriptor)
        os.close(descriptor)
    assert texts(journal) == ["first"]


def test_a_scope_that_is_closed_is_not_written_to(tmp_path: Path) -> None:
    journal = opened(tmp_path, ClosedDisk("is no project", limit=1000))
    with pytest.raises(StoreError, match="is no project"):
        journal.write("x")
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_would_be_too_large_stays_as_it_is(tmp_path: Path) -> None:
    journal = opened(tmp_path, Disk(durable=False, limit=500))
    path = journal.write("x" * 300, at=NOON).path
    before = path.read_bytes()
    with pytest.raises(StoreError, match="more than the limit"):
        journal.write("y" * 300, at=NOON)
    assert path.read_bytes() == before
