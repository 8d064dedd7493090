"""Hand edits are taken in as they happen, and told: real files, a real thread."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from engramdown import Cortex, Engram, EpisodicMemory
from engramdown.errors import StoreError
from engramdown.hippocampus.entry import find_lines
from engramdown.hippocampus.store import Hippocampus
from engramdown.markdown.document import Document, Placed
from engramdown.recall.index import Index
from engramdown.sleep import watcher
from engramdown.sleep.watcher import News, Watching
from tests.hippocampus.editors import STYLES, save
from tests.hippocampus.memory_store import MemoryStore
from tests.sleep.test_sleeper import wait

PATIENCE = 60.0


class Told(list[News]):
    """What was told so far."""

    def wait(self, *texts: str) -> News:
        """Wait until something was told that says all of ``texts``, and return the last of it."""
        end = time.monotonic() + PATIENCE
        while True:
            found = [
                item for item in self if all(text in " ".join(map(str, item)) for text in texts)
            ]
            if found:
                return found[-1]
            assert time.monotonic() < end, (texts, list(self))
            time.sleep(0.01)

    @property
    def deeds(self) -> list[tuple[str, str]]:
        """What was told, without the rest."""
        return [(item.what, item.text) for item in self]


@pytest.fixture
def memory(cortex: Cortex, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the memory folder of a project that has a rule and a lesson."""
    monkeypatch.setattr(watcher, "_AGAIN", 0.1)
    monkeypatch.setattr(watcher, "_LONG", 0.1)
    cortex.encode(
        [
            Engram("Use uv", "always", "project", "high", source="user"),
            Engram("CI is slow", "lesson", "project", topic="ci"),
        ]
    )
    return project / ".engramdown" / "memory"


@pytest.fixture
def told(cortex: Cortex, memory: Path) -> Iterator[Told]:
    """Watch, and collect what is told."""
    assert memory.is_dir()
    heard = Told()
    with cortex.worker.watch(heard.extend) as made:
        heard.wait("watching", "project")
        heard.clear()
        assert made.is_running
        yield heard
    assert not made.is_running


def add(path: Path, line: str) -> None:
    """Add a line to a file."""
    path.write_text(path.read_text(encoding="utf-8") + line, encoding="utf-8")


def test_a_profile_is_told_of_by_the_name_that_it_has(cortex: Cortex, memory: Path) -> None:
    store = cortex.scopes.stores[0]
    store.memory.mkdir()
    page = store.memory / "USER.MD"
    page.write_text("- Name: Ada\n", encoding="utf-8")
    store.notice()
    cortex.encode(Engram("Drinks tea", "profile", "global", "high", source="user"))
    heard = Told()
    assert memory.is_dir()
    with cortex.worker.watch(heard.extend):
        heard.wait("watching", "global")
        add(page, "- Plays chess\n")
        item = heard.wait("learned", "Plays chess")
    assert (item.file, item.line) == ("USER.MD", 3)


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_a_hand_edit_is_taken_in_and_told_with_its_place(
    told: Told, memory: Path, cortex: Cortex, style: str
) -> None:
    rules = memory / "rules.md"
    text = rules.read_text(encoding="utf-8")
    save(style, rules, text.replace("Use uv", "Use uv, never pip") + "- Mine\n")
    item = told.wait("learned", "Mine")
    assert (item.by, item.scope, item.file) == ("person", "project", "rules.md")
    assert rules.read_text(encoding="utf-8").split("\n")[item.line - 1].startswith("- Mine")
    changed = told.wait("changed")
    assert (changed.text, changed.before) == ("Use uv, never pip", "Use uv")
    entry = cortex.find(changed.id)
    assert entry.basis == "verified"
    assert [deed for deed, _ in told.deeds].count("learned") == 1


def test_what_a_person_deletes_is_forgotten_and_kept_out(
    told: Told, memory: Path, cortex: Cortex
) -> None:
    rules = memory / "rules.md"
    lines = rules.read_text(encoding="utf-8").split("\n")
    rules.write_text("\n".join(line for line in lines if "Use uv" not in line), encoding="utf-8")
    told.wait("forgot", "Use uv")
    [receipt] = cortex.propose(Engram("Use uv", "always", "project", "high"))
    assert receipt.action == "discarded"


@pytest.mark.slow
def test_what_others_write_is_told_and_not_taken_for_a_hand_edit(
    told: Told, cortex: Cortex
) -> None:
    code = (
        "from engramdown import Cortex, Engram; "
        "Cortex.open(project={!r}).propose(Engram('From afar', 'lesson', 'project', 'high'))"
    )
    root = str(cortex.scopes.stores[-1].root)
    subprocess.run([sys.executable, "-c", code.format(root)], check=True, env={**os.environ})
    assert told.wait("From afar").by == "llm"
    cortex.forget(cortex.entries()[0].id)
    assert told.wait("forgot", "Use uv").by == "user"
    assert "person" not in {step.by for step in cortex.scopes.stores[-1].history()}


@pytest.mark.slow
def test_what_is_ticked_is_carried_out_and_told_once(
    told: Told, memory: Path, cortex: Cortex
) -> None:
    cortex.mode = "copilot"
    cortex.propose(
        [Engram("Maybe so", "lesson", "project"), Engram("Rather not", "lesson", "project")]
    )
    told.wait("asked", "Rather not")
    pending = memory / "pending.md"
    text = pending.read_text(encoding="utf-8")
    text = text.replace("[ ] Maybe", "[x] Maybe").replace("[ ] Rather", "[-] Rather")
    pending.write_text(text, encoding="utf-8")
    approved = told.wait("approved", "Maybe so")
    told.wait("declined", "Rather not")
    assert approved.file == "lessons.md"
    assert cortex.pending() == []
    assert "Maybe so" in [entry.text for entry in cortex.entries()]
    assert [deed for deed, _ in told.deeds if deed in ("edited", "trouble")] == []


def test_a_tick_that_cannot_be_carried_out_is_told_until_it_is_mended(
    told: Told, memory: Path
) -> None:
    pending = memory / "pending.md"
    pending.write_bytes(b"- [x] \xff bytes <!-- kind:lesson -->\n")
    trouble = told.wait("trouble", "could not carry out what you ticked")
    assert "pending.md:1" in trouble.text
    pending.write_text("- [x] Words <!-- kind:lesson -->\n", encoding="utf-8")
    told.wait("mended")
    told.wait("approved", "Words")


def test_prose_is_told_as_an_edit(told: Told, memory: Path) -> None:
    rules = memory / "rules.md"
    rules.write_text("Hello.\n\n" + rules.read_text(encoding="utf-8"), encoding="utf-8")
    item = told.wait("edited")
    assert (item.file, item.text, item.line) == ("rules.md", "", 0)


@pytest.mark.slow
def test_a_topic_that_is_renamed_was_moved(told: Told, memory: Path) -> None:
    (memory / "topics" / "ci.md").rename(memory / "topics" / "builds.md")
    assert told.wait("CI is slow").what == "moved"


def test_a_scope_that_comes_later_is_noticed(told: Told, cortex: Cortex) -> None:
    cortex.encode(Engram("Be brief", "always", "global", source="user"))
    told.wait("remark", "is there now")
    assert told.wait("learned", "Be brief").scope == "global"


@pytest.mark.slow
def test_a_folder_that_goes_is_missed_and_found_when_it_is_back(
    told: Told, memory: Path, cortex: Cortex
) -> None:
    away = memory.with_name("away")
    memory.rename(away)
    told.wait("trouble", "is gone")
    away.rename(memory)
    told.wait("mended")
    add(memory / "rules.md", "- After all\n")
    told.wait("learned", "After all")
    assert not [item for item in told if item.what == "forgot"]
    assert "Use uv" in [entry.text for entry in cortex.entries()]


@pytest.mark.slow
def test_the_whole_scope_may_be_replaced(told: Told, memory: Path) -> None:
    root = memory.parent
    shutil.copytree(root, root.with_name("copy"))
    shutil.rmtree(root)
    told.wait("trouble", "is gone")
    root.with_name("copy").rename(root)
    told.wait("mended")
    add(memory / "rules.md", "- After all\n")
    told.wait("learned", "After all")


@pytest.mark.slow
def test_a_store_that_fails_is_told_once_and_looked_at_again(
    told: Told, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice, failing = Hippocampus.notice, [True]

    def fails(self: Hippocampus) -> bool:
        if failing and self.scope == "project":
            raise StoreError("the disk is full")
        return notice(self)

    monkeypatch.setattr(Hippocampus, "notice", fails)
    add(memory / "rules.md", "- Mine\n")
    told.wait("trouble", "the disk is full")
    time.sleep(0.5)
    assert [item for item in told.deeds if item[0] == "trouble"] == [
        ("trouble", "the disk is full")
    ]
    failing.clear()
    told.wait("mended")
    told.wait("learned", "Mine")


@pytest.mark.slow
def test_what_could_not_be_told_is_told_later(
    told: Told, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = [OSError(5, "the disk is dying"), StoreError("no more")]

    def fails(document: Document, wanted: Collection[str]) -> dict[str, Placed]:
        if failing:
            raise failing.pop(0)
        return find_lines(document, wanted)

    monkeypatch.setattr(watcher, "find_lines", fails)
    add(memory / "rules.md", "- Mine\n")
    told.wait("trouble", "the disk is dying")
    told.wait("trouble", "no more")
    told.wait("mended")
    assert told.wait("learned", "Mine").line


@pytest.mark.slow
def test_an_unreadable_file_is_told_and_the_other_scope_goes_on(
    told: Told, memory: Path, cortex: Cortex
) -> None:
    (memory / "lessons.md").unlink()
    (memory / "lessons.md").mkdir()
    told.wait("trouble", "lessons.md")
    cortex.scopes.global_hc.encode_rule("Be brief", "always", "high", "user")
    told.wait("learned", "Be brief")
    (memory / "lessons.md").rmdir()
    told.wait("mended")


@pytest.mark.slow
@pytest.mark.parametrize("held", ["index.lock", "MERGE_HEAD", "rebase-merge"])
def test_what_git_has_not_finished_is_waited_for(
    told: Told, memory: Path, project: Path, held: str
) -> None:
    git = project / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (git / "index").write_bytes(b"DIRC .engramdown/memory/rules.md")
    (git / held).mkdir()
    add(memory / "rules.md", "- Mine\n")
    assert held in told.wait("trouble", "git has not finished").text
    assert ("learned", "Mine") not in told.deeds
    (git / held).rmdir()
    told.wait("mended")
    told.wait("learned", "Mine")


def test_a_merge_in_a_project_whose_memory_git_does_not_know_is_not_waited_for(
    told: Told, memory: Path, project: Path
) -> None:
    git = project / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (git / "index").write_bytes(b"DIRC src/main.py")
    (git / "MERGE_HEAD").write_text("x", encoding="utf-8")
    add(memory / "rules.md", "- Mine\n")
    told.wait("learned", "Mine")


def test_the_index_of_transcripts_is_kept_up_if_there_is_one(
    told: Told, cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    episodes = EpisodicMemory(cortex.scopes.stores[-1].root)
    episodes.log("s", "user", "Why is CI red?")
    cache = episodes.folder.parent / "cache"
    time.sleep(0.6)
    assert not (cache / "index.sqlite").exists()
    assert episodes.recall("CI")
    seen: list[object] = []
    reading = Index.reading

    def spy(self: Index) -> AbstractContextManager[None]:
        seen.append(self)
        return reading(self)

    monkeypatch.setattr(Index, "reading", spy)
    episodes.log("s", "user", "And why is it slow?")
    wait(lambda: seen)
    episodes.close()
    assert told == []


def test_without_sqlite_an_index_is_left_alone_and_memory_is_watched(
    told: Told, memory: Path, cortex: Cortex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "engramdown.recall.index", None)  # what makes an import fail
    cache = cortex.scopes.stores[-1].root / "cache"
    cache.mkdir(exist_ok=True)
    (cache / "index.sqlite").touch()
    add(memory / "rules.md", "- Mine\n")
    told.wait("learned", "Mine")
    add(memory / "rules.md", "- Yours\n")
    told.wait("learned", "Yours")


@pytest.mark.slow
def test_two_that_watch_do_no_harm(told: Told, memory: Path, cortex: Cortex) -> None:
    other = Told()
    with cortex.worker.watch(other.extend):
        for number in range(5):
            add(memory / "rules.md", f"- Mine {number}\n")
            told.wait("learned", f"Mine {number}")
            other.wait("learned", f"Mine {number}")
    texts = [entry.text for entry in cortex.entries() if entry.text.startswith("Mine")]
    assert sorted(texts) == [f"Mine {number}" for number in range(5)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_program_that_fails_at_the_news_is_told_why_watching_ended(
    cortex: Cortex, memory: Path
) -> None:
    def fails(news: list[News]) -> None:
        raise RuntimeError(news[0].text)

    assert memory.is_dir()
    made = cortex.worker.watch(fails).start()
    wait(lambda: not made.is_running)
    assert made.trouble == f"RuntimeError: {cortex.scopes.stores[0].root}"
    assert made.stop()


def test_only_files_can_be_watched() -> None:
    cortex = Cortex(MemoryStore("global"), MemoryStore("project"))
    with pytest.raises(StoreError, match="nothing to watch"):
        Watching(cortex.scopes, print)
