"""engramdown log compact: summaries of a conversation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engramdown.episodes.memory import EpisodicMemory
from tests.cli.conftest import Runner
from tests.cli.test_compact import configured
from tests.consolidation.provider import answering, failing, serving
from tests.consolidation.view_laws import read_gists

SESSION = "talk"


@pytest.fixture
def talk(memory: Path) -> Path:
    """Record a conversation of thirty turns, and return the scope's folder."""
    say(memory.parent, 30)
    return memory.parent


def say(root: Path, turns: int, session: str = SESSION) -> None:
    episodes = EpisodicMemory(root)
    for number in range(1, turns + 1):
        episodes.log(session, "user", f"Where is file{number}.py?")
        episodes.log(session, "assistant", f"I decided to keep it in src/file{number}.py.")
    episodes.close()


def summarised(run: Runner, *more: str) -> str:
    """Summarise without a model, and return the id of the newest summary."""
    done = run.ok("log", "compact", SESSION, "--without-model", "--json", *more).json
    found: str = done["gists"][-1]["id"]
    return found


def log_of(root: Path, session: str = SESSION) -> Path:
    return root / "gists" / f"{session}.jsonl"


# ---- compact ----


def test_a_conversation_is_summarised_without_a_model(run: Runner, talk: Path) -> None:
    done = run.ok("log", "compact", "--without-model")
    head, titles, row, *text = done.out.rstrip("\n").split("\n")
    assert re.fullmatch(r"Wrote 1 summary of 40 messages: \d+ tokens are now \d+\.", head)
    assert titles.split() == ["summary", "form", "depth", "messages", "tokens", "lines", "how"]
    (gist,) = read_gists(log_of(talk).read_bytes())
    assert row.split() == [
        *(gist.id, "leaf", "0", "40", str(gist.tokens), "#1-40"),
        *("without", "a", "model"),
    ]
    assert text == ["", *gist.text.split("\n")]
    assert done.err == ""


def test_several_summaries_are_shown_by_their_ids(
    run: Runner, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    episodes = EpisodicMemory(talk)
    for number in range(8):
        long = f"We keep file{number}.py in src/{number}. " * 1_600
        episodes.log(SESSION, ("user", "assistant")[number % 2], long)
    episodes.close()
    with serving(answering({"text": "Files\nwere moved."})) as url:
        configured(talk / "memory", url)
        shown = run.ok("log", "compact", SESSION, "--mode", "full", "--tail", "1").out
    gists = read_gists(log_of(talk).read_bytes())
    assert len(gists) > 1
    for gist in gists:
        assert f"\n\n{gist.id}\n{gist.text}\n" in shown


def test_a_handoff_without_a_model_has_its_headings(run: Runner, talk: Path) -> None:
    say(talk, 3)
    shown = run.ok("log", "compact", "--without-model", "--mode", "handoff").out
    assert [row[3:] for row in shown.split("\n") if row.startswith("## ")] == [
        *("Goal", "Progress", "Key Decisions", "Files Changed", "Current State"),
        *("Blockers and Gotchas", "Next Steps"),
    ]
    assert "- Where is file1.py?" in shown


def test_a_model_that_is_set_is_asked_and_named(
    run: Runner, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(answering({"text": "Files were\x1b[2J found."})) as url:
        configured(talk / "memory", url)
        done = run.ok("log", "compact", SESSION)
    assert done.err == "note: openai/scripted writes the summaries; this may take a while\n"
    (gist,) = read_gists(log_of(talk).read_bytes())
    assert gist.text == "Files were\x1b[2J found."
    assert done.out.endswith("\n\nFiles were␛[2J found.\n")


def test_what_a_model_could_not_do_is_said_and_nothing_is_written(
    run: Runner, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with serving(failing(400)) as url:
        configured(talk / "memory", url)
        done = run("log", "compact", SESSION)
    assert (done.code, done.out) == (1, "")
    assert "openai/scripted" in done.err.split("\n")[1]
    assert not log_of(talk).exists()


def test_without_a_model_it_says_which_setting_is_missing(run: Runner, talk: Path) -> None:
    done = run("log", "compact", SESSION)
    assert (done.code, done.out) == (1, "")
    assert "no model is set to summarise with; --without-model does it by rules" in done.err
    assert not log_of(talk).exists()


@pytest.mark.parametrize("mode", ["incremental", "full", "handoff"])
def test_a_dry_run_tells_what_would_be_summarised(run: Runner, talk: Path, mode: str) -> None:
    shown = run.ok("log", "compact", "--dry-run", "--mode", mode).out.split("\n")
    assert shown[0] == "Dry run: nothing is written."
    assert re.fullmatch(
        r"Would write 1 summary of 40 messages: \d+ tokens would be \d+ at most.", shown[1]
    )
    assert shown[2:] == [""]
    told = run.ok("log", "compact", "--dry-run", "--mode", mode, "--json").json
    (gist,) = told["gists"]
    assert (told["dry_run"], told["mode"], told["reload_required"]) == (True, mode, False)
    assert (gist["first"], gist["last"], gist["messages"]) == (1, 40, 40)
    assert "id" not in gist
    assert not log_of(talk).exists()


@pytest.mark.usefixtures("talk")
def test_a_program_is_told_all_of_it(run: Runner) -> None:
    told = run.ok("log", "compact", "--without-model", "--tail", "30", "--json").json
    (gist,) = told.pop("gists")
    assert told.pop("tokens_before") > told.pop("tokens_after")
    assert told == {
        "session": SESSION,
        "dry_run": False,
        "mode": "incremental",
        "messages": 30,
        "rounds": 1,
        "lost": 0,
        "reload_required": True,
        "reason": "",
    }
    assert (gist["sources"], gist["first"], gist["last"]) == ([[1, 30]], 1, 30)
    assert (gist["form"], gist["level"], gist["model"]) == ("leaf", "extractive", "")
    assert (gist["derived"], gist["in_view"]) == ("", True)


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--json",), ("--dry-run", "--json")])
def test_nothing_to_summarise_is_said(run: Runner, more: tuple[str, ...]) -> None:
    done = run("log", "compact", SESSION, "--without-model", "--tail", "60", *more)
    assert done.code == 1
    assert "talk: there is nothing to summarise before the newest messages" in done.err
    if "--json" in more:
        assert done.json["gists"] == []
    else:
        assert done.out in ("", "Dry run: nothing is written.\n")


def test_the_session_that_runs_is_meant(run: Runner, talk: Path) -> None:
    say(talk, 12, "later")
    assert (
        run.ok("log", "compact", "--without-model", "--json", "--tail", "2").json["session"]
        == "later"
    )
    run.ok("log", "end", "later")
    assert run.ok("log", "compact", "--dry-run", "--json").json["session"] == SESSION
    run.ok("log", "end", SESSION)
    done = run("log", "compact", "--without-model")
    assert (done.code, "no session runs" in done.err) == (1, True)
    # One that has ended may be named.
    assert run.ok("log", "compact", "tal", "--without-model").out


def test_a_summary_that_cannot_be_written_is_an_error_of_the_store(run: Runner, talk: Path) -> None:
    (talk / "gists").write_text("in the way", encoding="utf-8")
    done = run("log", "compact", SESSION, "--without-model")
    assert (done.code, done.out) == (3, "")
    assert "gists" in done.err


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize(
    "arguments",
    [
        ("compact", "--mode", "nap"),
        ("compact", "--tail", "-1"),
        ("compact", "--tail", "many"),
    ],
)
def test_wrong_usage_is_told(run: Runner, arguments: tuple[str, ...]) -> None:
    done = run("log", *arguments)
    assert (done.code, done.out) == (2, "")
    assert f"`engramdown log {arguments[0]} --help`" in done.err


@pytest.mark.usefixtures("talk")
def test_summaries_of_summaries_are_written(run: Runner, talk: Path) -> None:
    first = summarised(run, "--tail", "40")
    second = summarised(run)
    told = run.ok("log", "compact", "--without-model", "--mode", "handoff", "--json").json
    (top,) = told["gists"]
    assert top["sources"] == [first, second]
    assert (top["first"], top["last"]) == (1, 40)
    assert len(log_of(talk).read_bytes().split(b"\n")) == 4


def test_a_narrow_window_keeps_every_word(
    run: Runner, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("engramdown.cli.process.is_terminal", lambda _: True)
    shown = run.ok("log", "compact", SESSION, "--without-model").out
    out = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert all(len(row) <= 30 for row in out.split("\n"))
    (gist,) = read_gists(log_of(talk).read_bytes())
    assert gist.text.split() == out.split()[-len(gist.text.split()) :]


@pytest.mark.usefixtures("memory")
def test_a_removed_command_says_what_to_use(run: Runner) -> None:
    done = run("log", "gists", "x", "--json")
    gone = "`engramdown log gists` was removed; use `engramdown log compact`"
    assert (done.code, gone in done.err) == (2, True)
    assert "gists" not in run.ok("log", "--help").out
