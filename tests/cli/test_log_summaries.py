"""engramdown log compact and its siblings: summaries of a conversation, and the way back."""

from __future__ import annotations

import json
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
    assert run.ok("log", "gists", "--json").json["gists"][0]["text"] == "Files were\x1b[2J found."
    assert done.out.endswith("\n\nFiles were␛[2J found.\n")
    gist = run.ok("log", "gists", "--json").json["gists"][0]["id"]
    assert "Files were␛[2J found." in run.ok("log", "describe", gist).out


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
def test_a_rehearsal_tells_what_would_be_summarised(run: Runner, talk: Path, mode: str) -> None:
    shown = run.ok("log", "compact", "--dry-run", "--mode", mode).out.split("\n")
    assert shown[0] == "Dry run: nothing is written."
    assert re.fullmatch(
        r"Would write 1 summary of 40 messages: \d+ tokens would be \d+ at most.", shown[1]
    )
    assert shown[2].split() == ["form", "depth", "messages", "tokens", "at", "most", "lines"]
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
        ("expand", "gabcd", "--tokens", "0"),
        ("expand", "gabcd", "--depth", "0"),
        ("expand",),
        ("describe",),
        ("grep",),
        ("grep", " \n"),
        ("grep", "x", "--limit", "0"),
        ("grep", "x", "--scope", "all"),
    ],
)
def test_wrong_usage_is_told(run: Runner, arguments: tuple[str, ...]) -> None:
    done = run("log", *arguments)
    assert (done.code, done.out) == (2, "")
    assert f"`engramdown log {arguments[0]} --help`" in done.err


# ---- gists ----


def test_summaries_stand_above_what_they_were_made_from(run: Runner, talk: Path) -> None:
    first = summarised(run, "--tail", "40")
    second = summarised(run)
    top = summarised(run, "--mode", "handoff")
    out = run.ok("log", "gists").out
    rows = out.split("\n")
    assert [row.split()[0] for row in rows[1:4]] == [top, first, second]
    assert [len(row) - len(row.lstrip()) for row in rows[1:4]] == [0, 2, 2]
    assert re.fullmatch(
        r"A model sees 1 summary and 20 messages: \d+ tokens\. It is time to summarise above "
        r"80,000 tokens, or with 30 messages\.",
        rows[5],
    )
    told = run.ok("log", "gists", "--json").json
    assert [gist["id"] for gist in told["gists"]] == [top, first, second]
    assert [(gist["derived"], gist["in_view"]) for gist in told["gists"]] == [
        ("", True),
        (top, False),
        (top, False),
    ]
    assert (told["session"], told["messages"], told["limit"]) == (SESSION, 20, 80_000)
    assert len(log_of(talk).read_bytes().split(b"\n")) == 4


def test_without_a_summary_it_says_how_to_get_one(run: Runner, talk: Path) -> None:
    done = run("log", "gists")
    assert done.code == 1
    assert "60 messages are not summarised; 30 are enough" in done.out
    assert "no summary of talk; `engramdown log compact talk` writes one" in done.err
    assert not log_of(talk).parent.exists()
    (talk / "config.toml").write_text("[conversation]\nmax_tokens = -1\n", encoding="utf-8")
    assert "Nothing is summarised unless somebody asks." in run("log", "gists").out
    (talk / "config.toml").write_text("[conversation]\nmax_messages = 0\n", encoding="utf-8")
    assert run("log", "gists").out.endswith("It is time to summarise above 80,000 tokens.\n")


# ---- describe ----


@pytest.mark.usefixtures("talk")
def test_a_summary_is_shown_with_its_facts(run: Runner) -> None:
    leaf = summarised(run)
    rows = run.ok("log", "describe", leaf[:8]).out.split("\n")
    facts = dict(re.split(r"\s{2,}", row, maxsplit=1) for row in rows[: rows.index("")])
    assert facts["summary"] == leaf
    assert facts["stands for"] == "40 messages, talk#1-40"
    assert (facts["form"], facts["made from"]) == ("leaf, depth 0", "#1-40")
    assert (facts["by"], facts["shown"]) == ("without a model", "to the model, as it is")
    top = summarised(run, "--mode", "handoff", "--tail", "4")
    told = run.ok("log", "describe", leaf, "--json").json
    assert (told["session"], told["derived"], told["in_view"]) == (SESSION, top, False)
    assert f"not: {top} is" in run.ok("log", "describe", leaf).out


def test_the_newest_session_that_has_it_is_meant(run: Runner, talk: Path) -> None:
    leaf = summarised(run)
    say(talk, 30, "later")
    newest = run.ok("log", "compact", "later", "--without-model", "--json").json["gists"][0]["id"]
    assert run.ok("log", "describe", newest, "--json").json["session"] == "later"
    assert run.ok("log", "describe", leaf, "--json").json["session"] == SESSION
    # Somebody else's file in the place of a log hides no other.
    log_of(talk, "later").unlink()
    log_of(talk, "later").symlink_to(log_of(talk))
    assert run.ok("log", "describe", leaf, "--json").json["session"] == SESSION
    refused = run("log", "describe", leaf, "--session", "later")
    assert refused.code in (1, 3)


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("command", ["describe", "expand"])
@pytest.mark.parametrize("wanted", ["gnone", "g", "", "../x", "é", '"'])
def test_an_unknown_summary_is_told(run: Runner, command: str, wanted: str) -> None:
    summarised(run)
    done = run("log", command, wanted)
    assert (done.code, done.out) == (1, "")
    assert "`engramdown log gists SESSION` lists the ids" in done.err
    done = run("log", command, wanted, "--session", "tal")
    assert (done.code, done.out) == (1, "")
    assert "`engramdown log gists talk` lists the ids" in done.err
    assert run("log", command, wanted, "--session", "none").code == 1


# ---- expand ----


@pytest.mark.usefixtures("talk")
def test_what_was_said_is_shown(run: Runner) -> None:
    leaf = summarised(run)
    done = run.ok("log", "expand", leaf)
    rows = done.out.split("\n")
    assert re.fullmatch(r"talk#1  user  \d{4}-\d\d-\d\d \d\d:\d\d", rows[0])
    assert rows[1:3] == ["  Where is file1.py?", ""]
    assert done.err == ""


@pytest.mark.usefixtures("talk")
def test_following_what_it_says_shows_all_of_it(run: Runner) -> None:
    summarised(run, "--tail", "40")
    summarised(run)
    top = summarised(run, "--mode", "handoff")
    seen: list[str] = []
    command = ["log", "expand", top, "--tokens", "60", "--depth", "9"]
    while True:
        done = run.ok(*command)
        seen += re.findall(r"(?m)^talk#(\d+)  ", done.out)
        found = re.search(r"there is more: `engramdown (log expand [^`]+)`", done.err)
        if found is None:
            break
        command = found[1].split()
    assert seen == [str(seq) for seq in range(1, 41)]


@pytest.mark.usefixtures("talk")
def test_a_program_is_given_where_to_go_on(run: Runner) -> None:
    leaf = summarised(run)
    told = run.ok("log", "expand", leaf, "--tokens", "20", "--json").json
    assert (told["session"], told["id"], told["truncated"]) == (SESSION, leaf, True)
    assert [item["source"] for item in told["items"]] == ["talk#1", "talk#2", "talk#3"]
    rest = run.ok("log", "expand", leaf, "--cursor", told["cursor"], "--json").json
    assert [item["source"] for item in rest["items"]] == [f"talk#{seq}" for seq in range(4, 41)]
    assert (rest["truncated"], rest["cursor"]) == (False, "")
    wrong = run("log", "expand", leaf, "--cursor", "x")
    assert (wrong.code, "'x' is no cursor of this summary" in wrong.err) == (2, True)


@pytest.mark.usefixtures("talk")
def test_one_message_is_shown_whole_by_its_pointer(run: Runner) -> None:
    done = run.ok("log", "expand", "tal#3")
    assert re.fullmatch(r"talk#3  user  \S+ \S+\n  Where is file2\.py\?\n", done.out)
    part = run.ok("log", "expand", "talk#4", "--tokens", "5", "--json").json
    assert (part["id"], part["truncated"], part["items"][0]["cut"]) == ("talk#4", True, True)
    rest = run.ok("log", "expand", "talk#4", "--cursor", part["cursor"], "--json").json
    both = part["items"][0]["text"] + rest["items"][0]["text"]
    assert both == "I decided to keep it in src/file2.py."
    for wrong in ("talk#0", "talk#999", "none#1"):
        assert run("log", "expand", wrong).code == 1


def test_one_level_down_are_summaries_and_a_part_says_so(run: Runner, talk: Path) -> None:
    leaf = summarised(run)
    top = summarised(run, "--mode", "handoff", "--tail", "10")
    out = run.ok("log", "expand", top, "--tokens", "5").out
    assert re.match(rf"{leaf}  leaf summary  \S+ \S+  a part of it\n", out)
    assert talk.is_dir()


# ---- grep ----


@pytest.mark.usefixtures("talk")
def test_the_newest_is_found_first_and_says_where_it_is(run: Runner) -> None:
    leaf = summarised(run)
    done = run.ok("log", "grep", "FILE3", "--scope", "messages", "-n", "3")
    rows = done.out.rstrip("\n").split("\n")
    assert re.fullmatch(
        r"talk#60  \S+ \S+  assistant  I decided to keep it in src/file30\.py\.", rows[0]
    )
    assert len(rows) == 3
    assert re.match(rf"talk#6  \S+ \S+  assistant  in {leaf}  I decided", rows[2])
    assert "there are more than 3; --limit shows more" in done.err
    told = run.ok("log", "grep", "file30", "tal", "--json").json
    assert [(hit["source"], hit["role"]) for hit in told] == [
        ("talk#60", "assistant"),
        ("talk#59", "user"),
    ]


@pytest.mark.usefixtures("talk")
def test_a_summary_is_found_too(run: Runner) -> None:
    leaf = summarised(run)
    (row,) = run.ok("log", "grep", "file", "--scope", "summaries").out.rstrip("\n").split("\n")
    assert re.match(rf"{leaf}  \S+ \S+  leaf summary  ", row)


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("pattern", ["file%", "file*", "zeppelin", "_", "x" * 5_000])
def test_nothing_found_is_said(run: Runner, pattern: str) -> None:
    done = run("log", "grep", pattern)
    assert (done.code, done.out) == (1, "")
    assert "not found in talk; the very text is looked for, without wildcards" in done.err
    assert run("log", "grep", pattern, "--json").json == []


def test_looking_writes_nothing(run: Runner, talk: Path) -> None:
    leaf = summarised(run)
    before = {path: path.read_bytes() for path in talk.rglob("*") if path.is_file()}
    for arguments in (["gists"], ["describe", leaf], ["expand", leaf], ["grep", "file"]):
        run.ok("log", *arguments)
    assert {path: path.read_bytes() for path in talk.rglob("*") if path.is_file()} == before


def test_what_was_redacted_is_in_no_summary(run: Runner, talk: Path) -> None:
    leaf = summarised(run)
    run.ok("log", "redact", "talk#3")
    assert run("log", "describe", leaf).code == 1
    assert run("log", "gists").code == 1
    assert not log_of(talk).exists()
    assert json.dumps(run("log", "grep", "file2.py", "--json").json).count("talk#") == 1


def test_a_narrow_window_keeps_every_word(
    run: Runner, talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr("engramdown.cli.process.is_terminal", lambda _: True)
    monkeypatch.setattr("engramdown.cli.output.is_person", lambda: False)
    leaf = summarised(run)
    for arguments in (["gists"], ["describe", leaf], ["expand", leaf], ["grep", "file3"]):
        out = re.sub(r"\x1b\[[0-9;]*m", "", run.ok("log", *arguments).out)
        assert all(len(row) <= 30 for row in out.split("\n"))
    assert talk.is_dir()
