"""engramdown log exclude, include, redact and purge take back what they are told, and no more."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engramdown.episodes.memory import EpisodicMemory
from engramdown.journal.journal import Journal
from engramdown.journal.working_notes import WorkingNotes
from tests.cli.conftest import Runner
from tests.cli.terminal import Terminal

SECRET = "the heron stands in the reeds"


@pytest.fixture
def episodes(memory: Path) -> EpisodicMemory:
    """Return transcripts with two sessions that ended."""
    made = EpisodicMemory(memory.parent)
    for session in ("one", "two"):
        made.log(session, "user", SECRET)
        made.log(session, "assistant", "A grey one?")
        made.end(session)
    made.close()
    return made


def texts(episodes: EpisodicMemory, session: str) -> list[str]:
    return [each.text for each in episodes.session(session).episodes if each.role != "event"]


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_lines_are_excluded_and_included_again(run: Runner, episodes: EpisodicMemory) -> None:
    assert run.ok("log", "exclude", "one#1").out == "Excluded one#1\n"
    assert [hit.pointer.session for hit in episodes.recall("heron", mode="exact")] == ["two"]
    assert run.ok("log", "exclude", "one#1").out == "one#1: is excluded already\n"
    assert run.ok("log", "include", "one#1").out == "Included one#1\n"
    assert run.ok("log", "include", "one").out == "one: is not excluded\n"
    assert len(episodes.recall("heron", mode="exact")) == 2


def test_a_whole_session_wins_over_its_lines(run: Runner, episodes: EpisodicMemory) -> None:
    done = run.ok("log", "exclude", "--json", "one#1", "on", "tw#2", "tw#1").json
    assert [(each["session"], each["seqs"]) for each in done["sessions"]] == [
        ("one", []),
        ("two", [1, 2]),
    ]
    assert episodes.recall("heron", mode="exact") == []


def test_a_redacted_line_is_gone(run: Runner, episodes: EpisodicMemory) -> None:
    done = run.ok("log", "redact", "one#1")
    assert done.out == "Redacted one#1\n  episodes/one.jsonl\n"
    assert texts(episodes, "one") == ["", "A grey one?"]
    assert run.ok("log", "redact", "one#1").out == "one#1: is redacted already\n"
    shown = run.ok("log", "show", "one").out
    assert SECRET not in shown


def test_what_may_still_hold_it_is_named(run: Runner, episodes: EpisodicMemory) -> None:
    page = episodes.folder.parent / "gists" / "one.card.md"
    page.parent.mkdir()
    page.write_text("Herons", encoding="utf-8")
    episodes.log("two", "memory_read", SECRET, recalled=("one#1",))
    episodes.close()
    # Where a line breaks depends on how long the path is.
    out = "".join(run.ok("log", "redact", "one#1").out.split())
    assert "one.card.md:youwrotethispage,soitstays" in out
    assert "engramdownlogredacttwo#4" in out


def test_a_session_is_purged(run: Runner, episodes: EpisodicMemory) -> None:
    assert run.ok("log", "purge", "one", "--yes").out == "Purged one\n  episodes/one.jsonl\n"
    assert [info.id for info in episodes.sessions()] == ["two"]


@pytest.mark.usefixtures("episodes")
def test_memories_that_were_learned_from_it_are_named(run: Runner, memory: Path) -> None:
    lessons = memory / "lessons.md"
    lessons.write_text(
        "- A heron is grey <!-- id:k3v9q2ht from:one#1 -->\n"
        "- Ducks are not <!-- id:k3v9q2hu from:one#2 -->\n"
        "- By hand\n",
        encoding="utf-8",
    )
    (memory / "pending.md").write_text(
        "- [ ] Herons stand <!-- id:p81dz5ka kind:lesson scope:project from:one#1 -->\n",
        encoding="utf-8",
    )
    before = lessons.read_bytes()
    first = "k3v9q2ht (project lessons.md:1), p81dz5ka (project pending.md:1)"
    for arguments in (["one#1", "--dry-run"], ["one#1"]):
        shown = " ".join(run.ok("log", "redact", *arguments).out.split())
        assert f"learned from it: {first}; if it says the same: engramdown edit" in shown
    told = json.loads(run.ok("log", "purge", "one", "--yes", "--json").out)
    assert [each["id"] for each in told["sessions"][0]["memories"]] == [
        "k3v9q2ht",
        "k3v9q2hu",
        "p81dz5ka",
    ]
    assert told["sessions"][0]["memories"][1] == {
        "id": "k3v9q2hu",
        "scope": "project",
        "file": "lessons.md",
        "line": 2,
        "origin": "one#2",
    }
    assert "learned" not in run.ok("log", "exclude", "two").out
    assert lessons.read_bytes() == before


def test_memory_that_cannot_be_read_does_not_keep_what_is_to_go(
    run: Runner, episodes: EpisodicMemory, memory: Path
) -> None:
    (memory / "lessons.md").unlink(missing_ok=True)
    (memory / "lessons.md").mkdir()
    done = run.ok("log", "redact", "one#1")
    assert "lessons.md" in done.err
    assert texts(episodes, "one")[0] == ""


def test_a_purge_of_a_running_session_says_so(run: Runner, episodes: EpisodicMemory) -> None:
    episodes.log("runs", "user", "Hi")
    assert "runs is in use" in run.ok("log", "purge", "runs", "--yes").out


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_purge_needs_a_yes(
    run: Runner, episodes: EpisodicMemory, options: tuple[str, ...]
) -> None:
    done = run("log", "purge", "one", *options)
    assert done.code == 1
    assert "--yes" in done.err
    assert len(episodes.sessions()) == 2


@pytest.mark.parametrize("answer, code, left", [("y", 0, 1), ("n", 1, 2)])
def test_a_person_is_asked_before_a_purge(
    episodes: EpisodicMemory, child_env: dict[str, str], answer: str, code: int, left: int
) -> None:
    with Terminal(["engramdown", "log", "purge", "one"], child_env) as terminal:
        terminal.expect("Remove one for ever (1 file)?")
        terminal.type(answer)
        assert terminal.end() == code
    assert len(episodes.sessions()) == left


@pytest.mark.parametrize(
    "command",
    [
        ("exclude", "one"),
        ("include", "one#1"),
        ("redact", "one#1", "two#0", "two#2"),
        ("purge", "one", "two"),
    ],
)
def test_a_dry_run_tells_the_same_and_changes_nothing(
    run: Runner, episodes: EpisodicMemory, command: tuple[str, ...]
) -> None:
    episodes.start_session("two")
    path = episodes.folder / "two.jsonl"
    head = json.loads(path.read_bytes().split(b"\n")[0]) | {"title": "Birds"}
    rest = path.read_bytes().partition(b"\n")[2]
    path.write_bytes(json.dumps(head).encode() + b"\n" + rest)
    episodes.close()
    before = snapshot(episodes.folder.parent)
    planned = run.ok("log", *command, "--dry-run", "--json").json
    shown = run.ok("log", *command, "--dry-run").out
    assert snapshot(episodes.folder.parent) == before
    assert planned["dry_run"] is True
    yes = ("--yes",) if command[0] == "purge" else ()
    done = run.ok("log", *command, "--json", *yes).json
    assert done["sessions"] == planned["sessions"]
    assert shown.startswith("Dry run: nothing is written.\n")


@pytest.mark.parametrize(
    "command, code, words",
    [
        pytest.param(("exclude",), 2, "missing argument", id="nothing"),
        pytest.param(("exclude", "nowhere"), 1, "no session 'nowhere'", id="no-session"),
        pytest.param(("redact", "one#9"), 1, "no episode one#9", id="no-line"),
        pytest.param(("redact", "one"), 2, "log purge SESSION", id="redact-a-session"),
        pytest.param(("redact", "one#3"), 1, "one#3: is an event", id="redact-an-event"),
        pytest.param(("purge", "one#1"), 2, "only a whole session", id="purge-a-line"),
        pytest.param(("exclude", "one#x"), 2, "no number", id="no-number"),
        pytest.param(("exclude", "#1"), 2, "no number", id="no-name"),
    ],
)
def test_what_cannot_be_is_refused(
    run: Runner,
    episodes: EpisodicMemory,
    command: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    before = snapshot(episodes.folder)
    done = run("log", *command)
    assert done.code == code
    assert words in " ".join(done.err.split())
    assert snapshot(episodes.folder) == before


def test_one_that_is_refused_keeps_the_others_from_being_done(
    run: Runner, episodes: EpisodicMemory
) -> None:
    before = snapshot(episodes.folder)
    assert run("log", "redact", "one#1", "two#9").code == 1
    assert snapshot(episodes.folder) == before


def test_what_an_assistant_noted_of_it_is_named(run: Runner, episodes: EpisodicMemory) -> None:
    root = episodes.folder.parent
    journal = Journal(root)
    journal.write("Not of it.")
    line = journal.write("A heron.", by="agent", session="one").section.line
    notes = WorkingNotes(root, "one")
    notes.write("It is about a heron.")
    place = f"journal/{journal.today()}.md:{line}"
    told = run.ok("log", "redact", "one#1", "--dry-run", "--json").json["sessions"][0]
    assert (told["journal"], told["notes"]) == ([place], str(notes.path))
    out = " ".join(run.ok("log", "redact", "one#1").out.split())
    assert f"wrote this in the session; look at it yourself: {place}" in out
    assert "the notes on the session stay; see whether they quote what is gone" in out
    done = run.ok("log", "purge", "one", "--yes", "--json").json["sessions"][0]
    assert (done["journal"], done["notes"]) == ([place], None)
    assert not notes.path.exists()
    assert run.ok("log", "exclude", "two", "--json").json["sessions"][0]["journal"] == []
    (root / "journal").rename(root / "away")
    (root / "journal").symlink_to("/etc")
    assert "is a link that leaves" in run.ok("log", "redact", "two#1").err


def test_what_keeps_words_of_a_purged_session_is_named(
    run: Runner, episodes: EpisodicMemory
) -> None:
    words = "The lighthouse keeper answers to 5512-NOVEMBER"
    episodes.log("told", "user", words)
    episodes.close()
    root = episodes.folder.parent
    run.ok("remember", words)
    (root / "working").mkdir(exist_ok=True)
    (root / "working" / "other.md").write_text(f"- {words}\n", encoding="utf-8")
    (root / "working" / "third.md").write_text("- nothing of it\n", encoding="utf-8")
    done = run.ok("log", "purge", "told", "--yes", "--dry-run")
    assert "keep words of it" in done.out
    told = run.ok("log", "purge", "told", "--yes", "--json").json["sessions"][0]
    assert [name.partition(" ")[2] for name in told["remains"]] == [
        "history.jsonl",
        "working/other.md",
    ]
