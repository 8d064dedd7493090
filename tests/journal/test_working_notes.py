"""Notes on a session: what stood there can be had again, whoever replaced it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Event, Thread

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import (
    EngramdownError,
    InvalidNoteError,
    InvalidSessionError,
    NotesChangedError,
    StoreError,
)
from engramdown.journal.page import LONGEST, normalized
from engramdown.journal.page_search import search_notes
from engramdown.journal.working_notes import (
    Note,
    Version,
    WorkingNotes,
    is_own,
    new_lines,
    pieces,
    read_versions,
    text_of,
    updated_of,
    with_text,
    without_versions,
    write_version,
)
from engramdown.markdown.front_matter import parse_strict
from engramdown.storage import exchange
from engramdown.storage.disk import Disk
from engramdown.storage.locks import FolderLock
from tests.hippocampus.disks import Point, WatchedDisk
from tests.hippocampus.editors import STYLES, save

NOON = datetime(2026, 2, 27, 12, 5, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SESSION = "20260227-120500-4f2a"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_SETTLE_OPEN", 0.05)
    monkeypatch.setattr(exchange, "_SETTLE_GONE", 0.05)


def opened(root: Path, disk: Disk | None = None, session: str = SESSION) -> WorkingNotes:
    return WorkingNotes(root, session, disk=disk or Disk(durable=False))


def old(notes: WorkingNotes) -> list[str]:
    return [version.text for version in notes.history()]


def test_where_there_are_no_notes_there_is_an_empty_text(tmp_path: Path) -> None:
    notes = opened(tmp_path / "none")
    assert notes.read() == Note("", "", "")
    assert notes.history() == []
    assert notes.delete() is False
    assert list(tmp_path.iterdir()) == []


@freeze_time(NOON)
def test_what_is_written_is_read(tmp_path: Path) -> None:
    notes = WorkingNotes(tmp_path, SESSION)
    written = notes.write("The user is tired.\n\nBe brief.")
    assert notes.read() == written
    assert (written.text, written.updated) == (
        "The user is tired.\n\nBe brief.",
        "2026-02-27T12:05:00Z",
    )
    assert notes.path == tmp_path / f"working/{SESSION}.md"
    assert notes.path.read_text(encoding="utf-8") == (
        "---\nupdated: 2026-02-27T12:05:00Z\n---\n\nThe user is tired.\n\nBe brief.\n"
    )
    assert notes.path.stat().st_mode & 0o777 == 0o600
    assert notes.path.with_name(".gitignore").read_bytes() == b"*\n"
    assert opened(tmp_path, session="other").read().text == ""


def test_a_text_that_is_replaced_can_be_had_again(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    for text in ("one", "two", "two", "three"):
        notes.write(text)
    assert old(notes) == ["two", "one"]
    lines = (tmp_path / f"gists/{SESSION}.jsonl").read_text(encoding="utf-8").split("\n")
    assert [json.loads(line)["kind"] for line in lines if line] == ["note", "note"]
    assert notes.restore(2).text == notes.read().text == "one"
    assert old(notes) == ["three", "two"]
    assert notes.restore().text == "three"
    with pytest.raises(EngramdownError, match=r"no earlier text 9; there are 2, 1 is the newest"):
        notes.restore(9)
    with pytest.raises(EngramdownError, match="no earlier text 1; there is none"):
        opened(tmp_path, session="other").restore()


def test_a_text_is_added_below(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    notes.append("- one")
    assert notes.append("- two\n").text == "- one\n- two"
    assert old(notes) == []
    with pytest.raises(InvalidNoteError, match="text: is empty"):
        notes.append(" \n")
    with pytest.raises(InvalidNoteError, match="100,000 are allowed; replace them"):
        notes.append("x" * (LONGEST - 3))
    with pytest.raises(InvalidNoteError, match="100,000 are allowed; write it in parts"):
        notes.write("x" * (LONGEST + 1))


def test_notes_that_are_deleted_can_be_restored(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    notes.write("one")
    assert notes.delete() is True
    assert not notes.path.exists()
    assert notes.read().text == ""
    assert notes.restore().text == "one"


def test_a_secret_is_hidden_and_told(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    written = notes.write(f"token {TOKEN} here")
    assert written.hidden == ("GitHub token",)
    assert notes.append(f"again {TOKEN}").hidden == ("GitHub token",)
    assert TOKEN not in notes.path.read_text(encoding="utf-8")


@pytest.mark.parametrize("session", ["../x", "a/b", "", "x" * 300, "CON", "A"])
def test_an_id_that_is_no_file_name_reaches_no_file(tmp_path: Path, session: str) -> None:
    with pytest.raises(InvalidSessionError):
        opened(tmp_path, session=session)


# ---- a person who edits the file ----


def test_a_text_that_somebody_changed_is_not_replaced_unseen(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    seen = notes.write("one")
    notes.path.write_text("By hand.\n", encoding="utf-8")
    with pytest.raises(NotesChangedError, match="was changed since it was read"):
        notes.write("two", expected=seen.digest)
    assert notes.read().text == "By hand."
    assert notes.write("two", expected=notes.read().digest).text == "two"
    with pytest.raises(NotesChangedError):
        notes.write("three", expected="")
    fresh = opened(tmp_path, session="fresh")
    assert fresh.write("x", expected="").text == "x"


def test_what_a_person_wrote_is_kept_before_it_is_replaced(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    notes.write("one")
    notes.path.write_text("---\nmood: fine\n---\nBy hand.\n", encoding="utf-8")
    notes.write("two")
    assert old(notes) == ["By hand."]
    assert "mood: fine" in notes.path.read_text(encoding="utf-8")


@pytest.mark.parametrize("style", sorted(STYLES))
def test_a_save_in_between_is_kept(tmp_path: Path, style: str) -> None:
    path = opened(tmp_path).path
    opened(tmp_path).write("one")
    saved = False

    def watch(point: Point) -> None:
        nonlocal saved
        if not saved and (point.call, point.moment) == ("exchange", "before"):
            saved = True
            save(style, path, "By hand.\n")

    notes = opened(tmp_path, WatchedDisk(watch))
    notes.write("two")
    assert saved
    assert notes.read().text == "two"
    assert "By hand." in old(notes)
    assert [name.name for name in path.parent.iterdir() if name.suffix == ".tmp"] == []


def test_a_save_right_before_a_removal_is_kept(tmp_path: Path) -> None:
    path = opened(tmp_path).path
    opened(tmp_path).write("one")

    def watch(point: Point) -> None:
        if (point.call, point.moment) == ("withdraw", "before"):
            path.write_text("By hand.\n", encoding="utf-8")

    notes = opened(tmp_path, WatchedDisk(watch))
    notes.delete()
    assert not path.exists()
    assert old(notes) == ["By hand.", "one"]


def test_who_saves_again_and_again_is_not_fought(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    notes.write("one")
    saves: list[str] = []

    def watch(point: Point) -> None:
        if (point.call, point.moment) == ("exchange", "before"):
            saves.append(f"save {len(saves)}\n")
            notes.path.write_text(saves[-1], encoding="utf-8")

    with pytest.raises(StoreError, match="somebody else keeps saving it"):
        opened(tmp_path, WatchedDisk(watch)).write("two")
    there = {path.read_text(encoding="utf-8") for path in notes.path.parent.glob("*.md")}
    assert saves[-1] in there


def test_a_crash_before_the_exchange_leaves_the_notes_as_they_were(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    notes.write("one")

    def watch(point: Point) -> None:
        if (point.call, point.moment) == ("create", "before"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opened(tmp_path, WatchedDisk(watch)).write("two")
    assert notes.read().text == "one"
    assert old(notes) == []
    notes.write("two")
    assert old(notes) == ["one"]


def test_a_torn_line_in_the_log_hides_no_version(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    notes.write("one")
    log = tmp_path / f"gists/{SESSION}.jsonl"
    log.parent.mkdir()
    log.write_bytes(b'{"kind":"gist"}\n{"kind":"no')
    notes.write("two")
    assert log.read_bytes().startswith(b'{"kind":"gist"}\n{"kind":"no\n{"kind": "note"')
    assert old(notes) == ["one"]


WRITER = """\
import sys
from pathlib import Path
from engramdown.storage.disk import Disk
from engramdown.journal.working_notes import WorkingNotes

notes = WorkingNotes(Path(sys.argv[1]), "shared", disk=Disk(durable=False))
sys.stdin.readline()
for number in range(10):
    notes.append(f"{sys.argv[2]} {number}")
"""


def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name],
            stdin=subprocess.PIPE,
            encoding="utf-8",
        )
        for name in "abc"
    ]
    for process in running:
        process.communicate("\n")
    assert [process.returncode for process in running] == [0, 0, 0]
    said = opened(tmp_path, session="shared").read().text.split("\n")
    assert sorted(said) == sorted(f"{name} {number}" for name in "abc" for number in range(10))


class _Waiting(Disk):
    """Says when a lock is somebody else's."""

    def __init__(self, met: Event) -> None:
        super().__init__()
        self._met = met

    def lock(self, descriptor: int) -> bool:
        taken = super().lock(descriptor)
        if not taken:
            self._met.set()
        return taken


class _Crossed(Disk):
    """Lets somebody else write, or wait for the lock, in the middle of the first file it makes."""

    def __init__(self, other: Thread, met: Event) -> None:
        super().__init__(durable=False)
        self._other, self._met = other, met

    def _sync(self, descriptor: int) -> None:
        if self._other.ident is None:
            self._other.start()
            assert self._met.wait(30)
        super()._sync(descriptor)


def test_the_first_notes_of_a_scope_may_be_two_at_once(tmp_path: Path) -> None:
    met = Event()
    lock = FolderLock(tmp_path / "episodes" / ".lock", _Waiting(met), 30)
    theirs = WorkingNotes(tmp_path, "theirs", disk=Disk(durable=False), lock=lock)

    def write() -> None:
        theirs.write("two")
        met.set()

    other = Thread(target=write)
    notes = opened(tmp_path, _Crossed(other, met))
    notes.write("one")
    other.join(30)
    assert (notes.read().text, theirs.read().text) == ("one", "two")
    assert sorted(path.name for path in notes.path.parent.iterdir()) == [
        *(".gitignore", f"{SESSION}.md", "theirs.md")
    ]


def test_no_link_or_pipe_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "working").symlink_to(outside)
    with pytest.raises(StoreError, match="is a link"):
        opened(root).write("x")
    (root / "working").unlink()
    opened(root).write("x")
    opened(root).path.unlink()
    os.mkfifo(opened(root).path)
    with pytest.raises(StoreError, match="is a pipe or a device"):
        opened(root).read()
    assert list(outside.iterdir()) == []


def test_all_that_may_hold_notes_is_named(tmp_path: Path) -> None:
    notes = opened(tmp_path)
    notes.write("x")
    zeros = "0" * 16
    beside = [f".{SESSION}.md.{zeros}.{zeros}.00000000.tmp", f"{SESSION}.other-00000000.md"]
    for name in (*beside, f"{SESSION}.md~", f"{SESSION}-2.md", "x.md"):
        notes.path.with_name(name).write_text("x", encoding="utf-8")
    found = {path.name for path in pieces(tmp_path, SESSION, Disk())}
    assert found == {f"{SESSION}.md", *beside}


# ---- searching ----


def test_notes_are_found(tmp_path: Path) -> None:
    for session, text in (("one", "Deploys wait for Ann."), ("two", "Lunch."), ("three", "x")):
        with freeze_time(NOON.replace(day=20 + len(session))):
            opened(tmp_path, session=session).write(text)
    (tmp_path / "working/BAD.md").write_text("deploy", encoding="utf-8")
    (tmp_path / "working/broken.md").mkdir()
    found = search_notes(tmp_path, "who do we deploy with?")
    assert [(hit.session, hit.piece, hit.updated) for hit in found] == [
        ("one", "Deploys wait for Ann.", "2026-02-23T12:05:00Z")
    ]
    assert [hit.session for hit in search_notes(tmp_path, "wait for ann", exact=True)] == ["one"]
    assert search_notes(tmp_path, "deploys", session="two") == []
    assert search_notes(tmp_path, "deploys", 0) == []
    assert search_notes(tmp_path, "deploys", since=date(2026, 2, 24)) == []
    assert search_notes(tmp_path, "deploys", until=date(2026, 2, 22)) == []
    assert len(search_notes(tmp_path, "deploys", since=date(2026, 2, 23))) == 1
    assert search_notes(tmp_path / "none", "deploys") == []


def test_notes_on_an_excluded_session_are_not_found(tmp_path: Path) -> None:
    memory = EpisodicMemory(tmp_path)
    session = memory.start_session()
    memory.log(session, "user", "hello")
    opened(tmp_path, session=session).write("deploys")
    assert len(search_notes(tmp_path, "deploys")) == 1
    memory.forgetting().exclude(session)
    assert search_notes(tmp_path, "deploys") == []
    memory.forgetting().include(session)
    assert len(search_notes(tmp_path, "deploys")) == 1
    memory.close()


def test_notes_older_than_a_redaction_are_not_found_until_they_are_saved_again(
    tmp_path: Path,
) -> None:
    memory = EpisodicMemory(tmp_path)
    session = memory.start_session()
    memory.log(session, "user", "hunter2")
    notes = opened(tmp_path, session=session)
    notes.write("deploys with hunter2")
    os.utime(notes.path, (1, 1))
    text = notes.path.read_text(encoding="utf-8")
    notes.path.write_text(text.replace("updated: 2", "updated: 1"), encoding="utf-8")
    os.utime(notes.path, (1, 1))
    memory.forgetting().redact(session, [1])
    assert search_notes(tmp_path, "deploys") == []
    os.utime(notes.path)
    assert len(search_notes(tmp_path, "deploys")) == 1
    memory.close()


def test_a_secret_of_a_line_that_stays_is_left_to_whoever_wrote_it(tmp_path: Path) -> None:
    notes = WorkingNotes(tmp_path, "s1")
    notes.path.parent.mkdir()
    notes.path.write_bytes(f"mine: {TOKEN}\r\n".encode())
    assert notes.write(f"mine: {TOKEN}\nand more").hidden == ()
    assert notes.path.read_bytes() == f"mine: {TOKEN}\r\nand more\r\n".encode()
    assert notes.write(f"mine: {TOKEN}\nyours: {TOKEN}").hidden == ("GitHub token",)
    assert notes.read().text == f"mine: {TOKEN}\nyours: [redacted: GitHub token]"
    assert notes.write(f"yours: {TOKEN}").text == "yours: [redacted: GitHub token]"


# ---- notes are read as they were written, and their versions stand among other lines ----


NOW = "2026-02-27T10:15:00Z"
LINES = ["---", "updated: x", "updated:", "mood: fine # so", "...", "text", "", "\ufeff---", "# a"]
pages = st.lists(
    st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\n", "\r\n", ""])), max_size=8
).map(lambda lines: "".join(map("".join, lines)))
texts = pages | pages.map(lambda text: f"---\n{text}\n---\n") | st.text()
versions = st.builds(Version, st.just(NOW), st.sampled_from(["person", "agent"]), texts)


@given(texts, texts)
def test_what_is_read_is_what_was_written(page: str, text: str) -> None:
    after = with_text(page, text, NOW)
    assert text_of(after) == normalized(text)
    front = parse_strict(after)
    before = parse_strict(page)
    if before.opening:
        assert front.opening == before.opening
        assert front.head.startswith(before.head[: before.head.find("updated")])
    if not front.opening:
        return  # A line of a person's stayed.
    assert updated_of(after) == NOW or before.text("updated")[:1] in tuple("|>") or before.head


@pytest.mark.parametrize(
    "page, after",
    [
        ("", f"---\nupdated: {NOW}\n---\n\nnew\n"),
        ("by hand", f"---\nupdated: {NOW}\n---\n\nnew\n"),
        (
            "\ufeff---\r\nmood: fine # so\r\nupdated: x # by us\r\n---\r\nold",
            f"\ufeff---\r\nmood: fine # so\r\nupdated: {NOW} # by us\r\n---\r\n\r\nnew\r\n",
        ),
        ("---\nmood: fine\n---", f"---\nmood: fine\nupdated: {NOW}\n---\n\nnew\n"),
        ("---\nupdated: |\n  x\n---\n", "---\nupdated: |\n  x\n---\n\nnew\n"),
    ],
)
def test_what_a_person_added_above_stays(page: str, after: str) -> None:
    assert with_text(page, "new", NOW) == after


ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "  \n", "\r\n \r\n"])


@given(
    st.sampled_from(["", "---\r\nmood: fine\n---\r\n", "\ufeff", " \r\n\n"]),
    st.lists(ENDS, min_size=2, max_size=6),
    st.integers(0, 5),
    st.sampled_from(["said", "said\nand done", ""]),
    st.booleans(),
)
def test_a_line_that_stays_keeps_its_bytes(
    front: str,
    ends: list[str],
    at: int,
    said: str,
    closed: bool,  # noqa: FBT001 - the same
) -> None:
    lines = [f"line {number}\udcff{end}" for number, end in enumerate(ends)]
    lines[-1] = lines[-1] if closed else lines[-1].rstrip()
    page, at = f"{front}{''.join(lines)}", at % len(lines)
    after = with_text(page, text_of(page).replace(f"line {at}\ufffd", said), NOW)
    others = [line for number, line in enumerate(lines) if number not in (at - 1, at, at + 1)]
    assert after.startswith(front[:3])
    assert [line for line in others if line in after] == others
    assert text_of(after) == normalized(text_of(page).replace(f"line {at}\ufffd", said))


@pytest.mark.parametrize(
    "page, text, after",
    [
        ("one\r\ntwo\r\n", "one\n2", "one\r\n2\r\n"),
        ("one\r\ntwo", "one\n2", "one\r\n2"),
        ("one\r\ntwo", "one\ntwo\nthree", "one\r\ntwo\r\nthree"),
        ("\r\n\none  \ntwo  \n\n", "one  \ntwo\nthree", "\r\n\none  \ntwo\nthree\r\n\n"),
        ("one\ntwo\r\nthree\n", "one\n2\nthree", "one\n2\r\nthree\n"),
        ("one\r\ntwo\r\n", "zero\none\ntwo", "zero\r\none\r\ntwo\r\n"),
        ("one\r\n", "new", f"---\r\nupdated: {NOW}\r\n---\r\n\r\nnew\r\n"),
        ("a: 1\n---\n", "---\na: 1\n---", f"---\nupdated: {NOW}\n---\n\n---\na: 1\n---\n"),
        ("\ufeffone\n", "new", f"\ufeff---\nupdated: {NOW}\n---\n\nnew\n"),
    ],
)
def test_an_edit_changes_the_lines_that_it_is_about(page: str, text: str, after: str) -> None:
    assert with_text(page, text, NOW) == after


@given(texts, texts)
def test_what_is_new_of_a_text_stands_between_lines_that_stay(old: str, text: str) -> None:
    start, end = new_lines(old, text)
    assert 0 <= start <= end <= len(text)
    assert old.startswith(text[:start].removesuffix("\n"))
    assert old.endswith(text[end:].removeprefix("\n"))
    assert new_lines(text, text)[0] == len(text)


@given(texts, texts)
def test_what_an_agent_wrote_is_its_own_until_somebody_changes_it(page: str, text: str) -> None:
    after = with_text("", text, NOW, own=True)
    assert is_own(after)
    assert is_own(with_text(after, page, NOW)) is (normalized(page) == normalized(text))
    assert is_own(with_text(after, page, NOW, own=True))


def test_no_text_is_a_page_without_one() -> None:
    assert with_text("", " \n", NOW) == f"---\nupdated: {NOW}\n---\n"


@given(st.lists(versions, max_size=4), st.binary(max_size=20))
def test_versions_are_read_newest_first_among_anything(said: list[Version], noise: bytes) -> None:
    noise = noise.replace(b"\n", b"")
    lines = [noise, b'{"kind":"gist"}', b'{"note', b'"note"', b'{"kind":"note","ts":1}']
    log = b"\n".join([*lines, b""]) + b"".join(map(write_version, said))
    kept = [each._replace(text=each.text) for each in reversed(said)]
    assert read_versions(log) == kept
    assert read_versions(without_versions(log)) == []
    assert without_versions(log).split(b"\n")[: len(lines)] == lines
