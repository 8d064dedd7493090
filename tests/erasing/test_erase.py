"""Nothing of what was erased is left, everything else is, and it does not come back."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex, Engram, Hippocampus
from engramdown.engram import Source, fold
from engramdown.errors import InvalidEngramError, StoreError, UndoRefusedError
from engramdown.storage.erasure import Erasure
from tests.erasing.planted import EARLIER, OTHER, SECRET, everywhere, left_in


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the folder of a project without memory."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.slow
def test_no_half_of_the_words_is_left_anywhere(project: Path, isolated_home: Path) -> None:
    name = everywhere(project)
    assert len(left_in([project, isolated_home], SECRET, EARLIER)) > 15
    cortex = Cortex.open(project=project)
    told = cortex.review.erase(name)
    assert told.changed
    assert not told.left
    assert left_in([project, isolated_home], SECRET, EARLIER) == []
    # Nor after whatever a next command does.
    again = Cortex.open(project=project)
    again.recall("vault")
    assert again.episodes is not None
    again.episodes.recall("vault")
    again.sleep()
    assert left_in([project, isolated_home], SECRET, EARLIER) == []
    assert again.scopes.notices() == []


def test_everything_else_stays(project: Path) -> None:
    name = everywhere(project)
    Cortex.open(project=project).review.erase(name)
    cortex = Cortex.open(project=project)
    assert {OTHER, "Mine alone"} <= {entry.text for entry in cortex.entries()}
    root = project / ".engramdown"
    assert "Went home at five." in next((root / "journal").glob("*.md")).read_text("utf-8")
    assert "- other notes" in (root / "working" / "second.md").read_text("utf-8")
    assert "Nothing of it." in (project / "AGENTS.md").read_text("utf-8")
    assert OTHER in (project / "AGENTS.md").read_text("utf-8")
    episodes = cortex.episodes
    assert episodes is not None
    texts = [each.text for each in episodes.session("first").episodes]
    assert "A line about something else" in texts
    assert "Noted, and nothing else." in texts
    texts = [each.text for each in episodes.session("second").episodes]
    assert "Nothing of the kind was said here" in texts


def test_a_dry_run_changes_no_byte(project: Path, isolated_home: Path) -> None:
    name = everywhere(project)
    cortex = Cortex.open(project=project)  # which sweeps up
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    told = cortex.review.erase(name, dry_run=True)
    assert not told.changed
    after = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert {path.name for path in before if before[path] != after.get(path)} <= {".lock"}
    assert told.steps >= 5
    assert {held.session for _, held in told.lines} == {"first", "second"}
    names = {path.name for path in told.files}
    assert {"lessons.md", "vault.md", "archive.md", "AGENTS.md", "SKILL.md"} <= names
    assert isolated_home.is_dir()


@pytest.mark.slow
def test_it_is_not_learned_again(project: Path) -> None:
    name = everywhere(project)
    Cortex.open(project=project).review.erase(name)
    cortex = Cortex.open(project=project)
    for text in (
        SECRET,
        SECRET.upper() + ".",
        'Opens with 7731-KILO, às nove: the vault in "Harbour 9"',
    ):
        (receipt,) = cortex.propose(Engram(text, "lesson", "project", "high", source="llm"))
        assert receipt.action == "discarded", text
        assert "erased" in receipt.reason
    (receipt,) = cortex.propose(Engram("The vault is green", "lesson", "project", source="llm"))
    assert receipt.action == "encoded"
    (receipt,) = cortex.propose(Engram(SECRET, "lesson", "project", "high", source="user"))
    assert receipt.action == "encoded"


def opened(project: Path) -> tuple[Cortex, Hippocampus]:
    """Open memory, and return the project's store with it."""
    cortex = Cortex.open(project=project)
    return cortex, cortex.scopes.stores[-1]


def lesson(cortex: Cortex, text: str, source: Source = "user") -> str:
    """Remember a lesson and return its id."""
    (receipt,) = cortex.encode(Engram(text, "lesson", "project", "high", source=source))
    return receipt.id


def replayed(store: Hippocampus) -> bool:
    """Whether the journal tells of every file as it stands, and can make it from itself alone."""
    history = store.files.history
    history.refresh()
    heads = {name: head for name, head in history.heads().items() if head}
    return all(
        history.text(name) == store.files.place(name).read_text(encoding="utf-8") for name in heads
    )


def test_the_journal_still_makes_every_file(project: Path) -> None:
    name = everywhere(project)
    cortex, store = opened(project)
    steps = [(step.id, step.op, step.at) for step in store.history()]
    cortex.review.erase(name)
    assert replayed(store)
    assert [(step.id, step.op, step.at) for step in store.history()][:-1] == steps
    assert store.notice() is False
    assert opened(project)[1].notice() is False


def test_undo_says_why_it_cannot_and_undoes_everything_else(project: Path) -> None:
    name = everywhere(project)
    cortex, store = opened(project)
    kept = lesson(cortex, "Charts are drawn at the end")
    cortex.review.erase(name)
    with pytest.raises(UndoRefusedError, match="erased memories for good"):
        store.undo()
    first = next(step for step in store.why(name) if step.op == "encode")
    with pytest.raises(UndoRefusedError, match="nothing of the words is left"):
        store.undo(first.id)
    (step,) = store.why(kept)
    store.undo(step.id)
    assert kept not in {entry.id for entry in store.entries()}
    store.undo(store.history()[-1].id)
    assert kept in {entry.id for entry in store.entries()}
    assert left_in([project], SECRET, EARLIER) == []


def test_a_step_that_wrote_several_is_undone_for_the_rest(project: Path) -> None:
    cortex, store = opened(project)
    texts = ("Night trains leave from platform eleven", "Blue folders hold the leases")
    store.encode([Engram(text, "lesson", "project", "high", source="user") for text in texts])
    gone = next(entry for entry in store.entries() if entry.text == texts[0])
    step = store.history()[-1]
    cortex.review.erase(gone.id)
    store.undo(step.id)
    assert store.entries() == []


def test_an_editor_that_still_has_it_does_not_bring_it_back(project: Path) -> None:
    cortex, store = opened(project)
    name = lesson(cortex, SECRET)
    lesson(cortex, OTHER)
    page = project / ".engramdown" / "memory" / "lessons.md"
    buffer = page.read_text(encoding="utf-8")
    cortex.review.erase(name)
    page.write_text(f"{buffer}- Typed while it was open\n", encoding="utf-8")
    again = Cortex.open(project=project)
    texts = {entry.text for entry in again.entries()}
    assert texts == {OTHER, "Typed while it was open"}
    assert left_in([project], SECRET) == []
    assert replayed(store)


def test_a_line_that_a_person_wrote_and_an_editor_kept_is_told(project: Path) -> None:
    cortex, _ = opened(project)
    lesson(cortex, OTHER)
    page = project / ".engramdown" / "memory" / "lessons.md"
    page.write_text(f"{page.read_text('utf-8')}- {SECRET}\n", encoding="utf-8")
    buffer = page.read_text(encoding="utf-8")
    cortex = Cortex.open(project=project)
    name = next(entry.id for entry in cortex.entries() if entry.text == SECRET)
    cortex.review.erase(name)
    assert left_in([project], SECRET) == []
    page.write_text(buffer, encoding="utf-8")
    again = Cortex.open(project=project)
    (told,) = [notice for notice in again.scopes.notices() if "erased for good" in notice]
    name = next(entry.id for entry in again.entries() if entry.text == SECRET)
    assert name in told
    again.review.erase(name)
    assert left_in([project], SECRET) == []


def test_a_process_that_was_there_before_goes_on(project: Path) -> None:
    cortex, store = opened(project)
    name = lesson(cortex, SECRET)
    other, others_store = opened(project)
    assert len(other.entries()) == len(others_store.history()) == 1
    cortex.review.erase(name)
    lesson(other, OTHER)
    assert left_in([project], SECRET) == []
    assert {entry.text for entry in other.entries()} == {OTHER}
    (receipt,) = other.propose(Engram(SECRET, "lesson", "project", "high", source="llm"))
    assert receipt.action == "discarded"
    assert replayed(store)
    assert others_store.notice() is False


def test_both_scopes_lose_it(project: Path, isolated_home: Path) -> None:
    (isolated_home / ".engramdown").mkdir()
    cortex, _ = opened(project)
    fact = "Name of the cat: Zerberus von Altona"
    (receipt,) = cortex.encode(Engram(fact, "profile", "global", "high", source="user"))
    lesson(cortex, fact)
    told = cortex.review.erase(receipt.id)
    assert {gone.scope for gone in told.memories} == {"global", "project"}
    assert left_in([project, isolated_home], fact) == []


def test_a_digest_that_a_redaction_left_goes_too(project: Path) -> None:
    cortex, _ = opened(project)
    name = lesson(cortex, SECRET)
    episodes = cortex.episodes
    assert episodes is not None
    at = episodes.log(episodes.start_session("one"), "user", SECRET)
    episodes.close()
    assert at is not None
    episodes.forgetting().redact("one", [at.seq])
    proof = hashlib.sha256(SECRET.encode()).hexdigest()
    page = project / ".engramdown" / "episodes" / "one.jsonl"
    assert proof in page.read_text(encoding="utf-8")
    cortex.review.erase(name)
    files = [path for path in project.rglob("*") if path.is_file()]
    assert not any(proof[:16].encode() in path.read_bytes() for path in files)


def test_other_memories_that_share_words_stay_and_are_named(project: Path) -> None:
    cortex, _ = opened(project)
    name = lesson(cortex, "The staging database in Rotterdam answers to Heron-41")
    near = lesson(cortex, "The staging database is reset on the first of every month, at two")
    told = cortex.review.erase(name)
    assert told.stays == (near,)
    assert [entry.id for entry in cortex.entries()] == [near]
    assert left_in([project], "Rotterdam answers to Heron-41") == []


def test_a_memory_that_holds_all_of_it_keeps_its_other_words(project: Path) -> None:
    cortex, store = opened(project)
    words = "the door code of the annex is 4417-teal"
    name = lesson(cortex, words.capitalize())
    about = "Deliveries: ring twice, and tell them that " + words + ", then wait at the yellow gate"
    near = lesson(cortex, about + " until somebody with a badge has come down to you")
    cortex.review.erase(name)
    assert left_in([project], words) == []
    assert "wait at the yellow gate" in store.find(near).text
    assert "[erased]" in store.find(near).text


STAGING: Final = "The staging database in Rotterdam answers to Heron-41"
FEW: Final = "When is the staging area open?"


def spread(project: Path) -> tuple[str, dict[str, Path]]:
    """Say the words, and others that begin like them, in every place; return the id and pages."""
    cortex, _ = opened(project)
    name = lesson(cortex, STAGING)
    root = project / ".engramdown"
    episodes = cortex.episodes
    assert episodes is not None
    talk = episodes.start_session("talk")
    for text in (
        FEW,
        f"Note: {STAGING}!",
        "Else",
        STAGING[:26],
        "the staging\ndatabase",
        STAGING[26:],
    ):
        episodes.log(talk, "user", text)
    episodes.close()
    cortex.journal.write(f"{FEW}\n\nTold Ada: {STAGING}.")
    pages = {
        "working/talk.md": f"# Notes\n\n- {FEW}\n- {STAGING}\n- the staging\n  database\n",
        "gists/talk.jsonl": "".join(
            json.dumps({"kind": "gist", "id": f"g{at}", "sources": [[at, at]], "text": text}) + "\n"
            for at, text in enumerate((FEW, STAGING))
        ),
        "ledger.jsonl": json.dumps({"error": FEW}) + "\n" + json.dumps({"error": STAGING}) + "\n",
    }
    for page, text in pages.items():
        (root / page).parent.mkdir(exist_ok=True)
        (root / page).write_text(text, encoding="utf-8")
    return name, {page: root / page for page in pages}


def test_what_shares_a_few_words_stays_byte_for_byte_and_is_named(project: Path) -> None:
    name, pages = spread(project)
    root = project / ".engramdown"
    path = root / "episodes" / "talk.jsonl"
    cortex = Cortex.open(project=project)
    before = path.read_bytes().split(b"\n")
    told = cortex.review.erase(name)
    assert cortex.review.erase(words=STAGING, dry_run=True).shared == told.shared
    assert [(held.session, held.seqs, held.whole) for _, held in told.lines] == [
        ("talk", (2, 4, 6), 1)
    ]
    assert left_in([project], STAGING) == []
    after = path.read_bytes().split(b"\n")
    assert [at for at, line in enumerate(before[:-1]) if line != after[at]] == [2, 4, 6]
    (journal,) = (root / "journal").glob("*.md")
    named = {(each.session, each.path): each.lines for each in told.shared}
    assert named.pop(("", journal))
    assert named == {
        ("talk", path): (1, 5),
        ("", pages["working/talk.md"]): (3, 5, 6),
        ("", pages["gists/talk.jsonl"]): (1,),
        ("", pages["ledger.jsonl"]): (1,),
    }
    assert FEW in journal.read_text("utf-8")
    text = pages["working/talk.md"].read_text("utf-8")
    assert text == f"# Notes\n\n- {FEW}\n- [erased]\n- the staging\n  database\n"
    assert FEW in pages["gists/talk.jsonl"].read_text("utf-8")
    assert FEW in pages["ledger.jsonl"].read_text("utf-8")


def test_pieces_take_what_shares_a_few_words_too(project: Path) -> None:
    name, _ = spread(project)
    told = Cortex.open(project=project).review.erase(name, pieces=True)
    assert told.shared == ()
    assert [held.seqs for _, held in told.lines] == [(1, 2, 4, 5, 6)]
    assert left_in([project], STAGING, size=12) == []


def test_a_skill_loses_only_what_says_all_of_it_and_is_named(project: Path) -> None:
    cortex, _ = opened(project)
    name = lesson(cortex, STAGING)
    skills = cortex.skills.all
    for label, body in (("part", f"Ask.\n{STAGING[:40]} well\n"), ("all", f"Ask.\n{STAGING}\n")):
        skills.create("project", label, skills.drafted(label, f"Do {label}", body))
    told = cortex.review.erase(name, pieces=True)
    (shared,) = told.shared
    assert (shared.path.parent.name, shared.lines) == ("part", (6,))
    assert STAGING[:40] in skills.read("part").page.body
    assert "Ask.\n[erased]\n" in skills.read("all").page.body


def test_the_journal_keeps_not_even_a_few_words_of_it(project: Path) -> None:
    cortex, store = opened(project)
    name = lesson(cortex, STAGING)
    cortex.update(name, STAGING.replace("Rotterdam", "Delft"))
    cortex.forget(name, why="the staging database moved")
    cortex.review.erase(name)
    assert left_in([project], STAGING, size=12) == []
    assert replayed(store)


def test_of_a_short_text_only_all_of_it_goes(project: Path) -> None:
    cortex, _ = opened(project)
    name = lesson(cortex, "The PIN is 4711-blue")
    episodes = cortex.episodes
    assert episodes is not None
    talk = episodes.start_session("talk")
    episodes.log(talk, "user", "The PIN is 4711-red")
    episodes.log(talk, "user", "I say: the pin is\n4711-BLUE.")
    episodes.close()
    told = cortex.review.erase(name)
    assert [held.seqs for _, held in told.lines] == [(2,)]
    assert [each.lines for each in told.shared] == [(1,)]


def test_what_is_read_only_is_refused_before_anything_is_begun(project: Path) -> None:
    cortex, _ = opened(project)
    name = lesson(cortex, SECRET)
    page = project / ".engramdown" / "memory" / "lessons.md"
    page.chmod(0o444)
    before = (project / ".engramdown" / "history.jsonl").read_bytes()
    with pytest.raises(StoreError, match="read-only"):
        cortex.review.erase(name)
    assert (project / ".engramdown" / "history.jsonl").read_bytes() == before
    assert not (project / ".engramdown" / "erasing.json").exists()


def test_a_note_that_came_with_a_clone_erases_nothing(project: Path, isolated_home: Path) -> None:
    (isolated_home / ".engramdown").mkdir()
    cortex, _ = opened(project)
    cortex.encode(Engram(OTHER, "lesson", "global", "high", source="user"))
    lesson(cortex, SECRET)
    roots = [str(project / ".engramdown"), str(isolated_home / ".engramdown")]
    note = Erasure(step="abcdefgh", ids=(), texts=(OTHER, SECRET), roots=tuple(roots))
    path = project / ".engramdown" / "erasing.json"
    path.write_text(json.dumps(note._asdict()), encoding="utf-8")
    path.chmod(0o644)  # as git writes it
    again = Cortex.open(project=project)
    assert {entry.text for entry in again.entries()} == {OTHER, SECRET}
    # Even one that is for the user alone says nothing of the other scope.
    path.chmod(0o600)
    again = Cortex.open(project=project)
    assert {entry.text for entry in again.entries()} == {OTHER}


def test_no_tool_of_a_model_offers_it(project: Path) -> None:
    cortex, _ = opened(project)
    offered = json.dumps(cortex.tool_definitions()).lower()
    assert "erase" not in offered
    assert "forever" not in offered


def test_what_is_kept_to_know_it_again_is_not_for_git(project: Path) -> None:
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    cortex, _ = opened(project)
    cortex.review.erase(lesson(cortex, SECRET))
    kept = project / ".engramdown" / "erased"
    assert {path.name for path in kept.iterdir()} == {".gitignore", "key", "marks.jsonl"}
    (project / ".engramdown" / ".gitignore").write_text("", encoding="utf-8")
    done = subprocess.run(
        ["git", "status", "--porcelain", "-uall", "--", str(kept)],
        cwd=project,
        capture_output=True,
        check=True,
    )
    assert done.stdout == b""
    data = (kept / "marks.jsonl").read_text(encoding="utf-8")
    for told in (SECRET, fold(SECRET)):
        assert hashlib.sha256(told.encode()).hexdigest()[:12] not in data


def test_words_that_are_no_memory_here_are_erased(project: Path) -> None:
    cortex, _ = opened(project)
    episodes = cortex.episodes
    assert episodes is not None
    episodes.log(episodes.start_session("one"), "user", f"I said {SECRET}")
    episodes.close()
    told = cortex.review.erase(words=SECRET)
    assert told.memories == ()
    assert len(told.lines) == 1
    assert left_in([project], SECRET) == []
    with pytest.raises(InvalidEngramError):
        cortex.review.erase()


@pytest.mark.slow
def test_writers_and_a_person_beside_it_lose_nothing(
    project: Path, child_env: dict[str, str]
) -> None:
    name = everywhere(project)
    command = [sys.executable, "-c", _WRITER, str(project)]
    writers = [subprocess.Popen([*command, str(each)], env=child_env) for each in range(2)]
    page = project / ".engramdown" / "memory" / "lessons.md"
    cortex = Cortex.open(project=project)
    deadline = time.monotonic() + 60
    while "Writer 1 wrote 3." not in page.read_text("utf-8") and time.monotonic() < deadline:
        time.sleep(0.01)
    with page.open("a", encoding="utf-8") as file:
        file.write("- Appended by a person beside it\n")
    cortex.review.erase(name)
    assert [writer.wait(120) for writer in writers] == [0, 0]
    again, store = opened(project)
    texts = [entry.text for entry in again.entries()]
    wrote = [f"Writer {who} wrote {at}." for who in range(2) for at in range(20)]
    assert sorted(text for text in texts if text.startswith("Writer")) == sorted(wrote)
    assert "Appended by a person beside it" in texts
    assert again.episodes is not None
    said = [each.text for each in again.episodes.session("beside").episodes if each.text]
    assert sorted(said) == sorted(wrote)
    assert left_in([project], SECRET, EARLIER) == []
    assert replayed(store)


_WRITER = """
import sys
from engramdown import Cortex, Engram
cortex = Cortex.open(project=sys.argv[1])
for at in range(20):
    text = f"Writer {sys.argv[2]} wrote {at}."
    (done,) = cortex.encode(Engram(text, "lesson", "project", "high", source="user"))
    assert done.action == "encoded", done
    cortex.episodes.log("beside", "user", text)
cortex.episodes.close()
"""
