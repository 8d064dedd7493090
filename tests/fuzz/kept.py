"""Laws of what the package keeps for itself, for any bytes: journal, cards, calls; git's merges.

Promises: such a file may be damaged, or come with a repository that somebody else made.
"""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

from engramdown.engram import Engram
from engramdown.episodes import forget, recorder
from engramdown.episodes.card import (
    Card,
    apply_page,
    as_page,
    filled_in,
    read_filled,
    without_filled,
    write_filled,
)
from engramdown.errors import EngramdownError
from engramdown.git.merge import keeps_all, merge_files
from engramdown.hippocampus.store import Hippocampus
from engramdown.importers import migration
from engramdown.importers.inputs import Ledger, Opened
from engramdown.models.ledger import read_line, write_line
from engramdown.sleep import progress
from engramdown.storage import locks
from engramdown.storage.disk import Disk
from tests.fuzz.pages import fields, text_of

__all__ = ["derived", "git_merge", "journal", "states"]

_PAGE = "# Rules\n\n## Always\n\n- Use uv <!-- id:k3v9q2ht -->\n- By hand\n"


def journal(data: bytes) -> None:
    """Whatever stands in the journal, memory is read, written, taken back, and nothing else."""
    # Files that the journal knows and that are not there are waited for: nobody is saving any.
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, patch("time.sleep"):
        root = Path(folder, ".engramdown")
        rules = root / "memory" / "rules.md"
        rules.parent.mkdir(parents=True)
        rules.write_text(_PAGE, encoding="utf-8")
        (root / "history.jsonl").write_bytes(data)
        os.utime(rules, (0, 0))  # saved long ago: nobody has it open
        store = Hippocampus(root, disk=Disk(durable=False))
        store.notice()
        before = {entry.text for entry in store.entries()}
        assert {"Use uv", "By hand"} <= before
        written = store.encode([Engram("Log in UTC", "always", "project")])
        known = {entry.id: entry.text for entry in store.entries()}
        assert known[written[0].entry.id] == "Log in UTC"
        store.history()
        for act in (store.archived, lambda: store.why(written[0].entry.id), store.undo):
            with suppress(EngramdownError):
                act()
        assert {"Use uv", "By hand"} <= {entry.text for entry in store.entries()}
        assert {path.name for path in Path(folder).iterdir()} == {".engramdown"}


def derived(data: bytes) -> None:
    """A card, a person's page of it, and a line about a call are read, or are none."""
    for line in data.split(b"\n"):
        call = read_line(line)
        if call is not None:
            assert read_line(write_line(call)) == call
    card = Card(session="s", kind="work")
    said = read_filled(data)
    if said is not None:
        assert read_filled(write_filled(said)) == said
        card = filled_in(card, said, [])
    without_filled(data)
    card = apply_page(card, text_of(data))
    page = as_page(card)
    assert as_page(apply_page(card, page)) == page


def states(data: bytes) -> None:
    """What a job, an import or a recording left is read, or is nothing."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        root = Path(folder)
        disk = Disk()
        places = (
            *(root / name for name in (progress.NAME, forget.WORK, locks.NAME)),
            *(root / migration.MIGRATED, root / "episodes" / recorder.marker(1)),
            *(
                root / "episodes" / forget.UNFINISHED,
                Ledger(root / "episodes", disk, durable=False).path,
            ),
        )
        for path in places:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        state = progress.SleepState(root)
        state.done("replay")
        state.work()
        progress.slept_at(root)
        assert locks.ScopeLock(root / locks.NAME, 0).named().pid >= 0
        migration.Migrated(root, Disk(), 1.0).knows(Engram("a", "lesson", "project"))
        for _, wrong in recorder.find_trouble(root / "episodes", disk):
            assert str(wrong)
        imports = Ledger(root / "episodes", disk, durable=False)
        imports.session_of("claude-code", "s1")
        imports.find("claude-code", Opened("fuzz", io.BytesIO(data)), len(data))
        forget._intent(data)


def git_merge(data: bytes) -> None:
    """A merge as git asks for it drops no entry of either side, whatever the sides are."""
    base, ours, theirs = fields(data, 3)
    old, mine, other = (text.encode("utf-8", "surrogateescape") for text in (base, ours, theirs))
    for name in ("rules.md", "pending.md"):
        merged = merge_files(f".engramdown/memory/{name}", old, mine, other)
        text = text_of(merged.data)
        # What one side leaves open may hide entries until a person has resolved the conflict.
        whole = merged.conflict and all(side.rstrip() in text for side in (ours, theirs))
        assert whole or keeps_all(name, base, ours, theirs, text)
        assert merge_files(name, old, mine, mine).data == mine
