"""``engramdown why`` tells who decided, what was said, and what brought a memory."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from engramdown import Cortex
from engramdown.episodes.memory import EpisodicMemory
from engramdown.errors import AmbiguousIdError, EntryNotFoundError
from tests.cli.conftest import Runner
from tests.git.conftest import untold
from tests.git.desk import Desk

__all__ = ["untold"]

LINES: Final = (
    ("user", "How do I add a dependency?"),
    ("assistant", "With pip."),
    ("user", "No, use uv,\nnever pip. \x1b[31mRed."),
    ("assistant", "Understood."),
    ("assistant", "Added."),
    ("user", "Thanks."),
)


@pytest.fixture
def rule(run: Runner, memory: Path) -> str:
    """Remember a rule and return its id."""
    assert memory.is_dir()
    return run.remember("Never push to main")


@pytest.fixture
def session(run: Runner, memory: Path) -> str:
    """Record a conversation and return its id."""
    assert memory.is_dir()
    session = run.ok("log", "start").out.strip()
    for role, text in LINES:
        run.ok("log", role, "-", "--session", session, stdin=text.encode())
    return session


def learn(run: Runner, origin: str, text: str = "Use uv, never pip") -> str:
    return run.remember("--source", "llm", "--from", origin, text)


def test_why_tells_each_step(run: Runner, rule: str) -> None:
    run.ok("edit", rule, "Never push to production")
    out = run.ok("why", rule[:6]).out
    assert "You said so." in out
    assert "You remembered" in out
    assert "You changed" in out
    assert "It is in rules.md:" in out


def test_why_tells_where_it_was_learned(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    entry_id = run.remember("--source", "llm", "--from", "20260227-1#12", "CI is slow")
    assert "The assistant inferred it, in 20260227-1#12." in run.ok("why", entry_id).out


def test_why_knows_a_line_written_by_hand(run: Runner, memory: Path) -> None:
    (memory / "lessons.md").write_text("- By hand\n", encoding="utf-8")
    (found,) = run.ok("list", "--json").json
    assert "A person wrote this line by hand" in run.ok("why", found["id"]).out
    assert run.ok("why", found["id"], "--json").json["by_hand"] is True


def test_why_knows_what_is_retired_and_what_waits(run: Runner, rule: str) -> None:
    run.ok("forget", rule)
    assert "It was retired by you on " in run.ok("why", rule).out
    waiting = run.ok(
        "--mode", "copilot", "remember", "--source", "llm", "--json", "CI is slow"
    ).json["id"]
    assert "It waits in " in run.ok("why", waiting).out
    assert run.ok("why", waiting, "--json").json["state"] == "pending"


# ---- what was said ----


def test_the_line_that_taught_it_is_shown_with_what_was_said_around_it(
    run: Runner, session: str
) -> None:
    rule = learn(run, f"{session}#3")
    out = run.ok("why", rule).out
    assert f"Learned in {session}#3\n" in out
    assert "> #3  user" in out
    assert "    No, use uv,\n    never pip. ␛[31mRed.\n" in out
    shown = [f"#{at} " in out for at in range(1, 7)]
    assert shown == [True, True, True, True, True, False]
    (taught,) = run.ok("why", rule, "--json").json["taught"]
    assert taught["line"]["text"] == LINES[2][1]
    assert [each["seq"] for each in taught["before"]] == [1, 2]
    assert [each["text"] for each in taught["after"]] == ["Understood.", "Added."]


def test_what_was_taken_back_stays_hidden(run: Runner, session: str) -> None:
    rule = learn(run, f"{session}#3")
    run.ok("log", "redact", f"{session}#3")
    run.ok("log", "exclude", f"{session}#2")
    out = run.ok("why", rule).out
    assert "(redacted)" in out
    assert "(excluded from memory" in out
    assert "With pip" not in out
    assert "use uv,\n" not in out
    (taught,) = run.ok("why", rule, "--json").json["taught"]
    assert (taught["line"]["hidden"], taught["line"]["text"]) == ("redacted", "")
    assert taught["before"][1]["hidden"] == "excluded"


def test_what_is_not_here_any_more_is_said_to_be_gone(run: Runner, session: str) -> None:
    rule = learn(run, f"20250101-000000-abcd#3,{session}#99,notes.md:4")
    out = " ".join(run.ok("why", rule).out.split())
    assert "Learned in 20250101-000000-abcd#3 This transcript is not here: it was purged" in out
    assert f"Learned in {session}#99 The transcript is here, but has no line" in out
    data = run.ok("why", rule, "--json").json
    assert [each["problem"] for each in data["taught"]] == ["no-session", "no-line"]


def test_a_transcript_that_cannot_be_read_is_told(run: Runner, session: str, memory: Path) -> None:
    rule = learn(run, f"{session}#3")
    path = memory.parent / "episodes" / f"{session}.jsonl"
    path.unlink()
    path.mkdir()
    assert "The transcript cannot be read" in run.ok("why", rule).out


def test_an_imported_session_is_told_with_its_program(run: Runner, memory: Path) -> None:
    history = memory.parent.parent / "talk.json"
    history.write_text(
        '[{"role": "user", "content": "Use uv"}, {"role": "assistant", "content": "Yes"}]',
        encoding="utf-8",
    )
    run.ok("import", "--from", "openai", str(history))
    session = EpisodicMemory(memory.parent).sessions()[0].id
    out = run.ok("why", learn(run, f"{session}#1")).out
    assert f"Learned in {session}#1, imported from openai" in out


def test_a_global_memory_finds_the_transcript_of_its_project(run: Runner, session: str) -> None:
    rule = run.remember("--global", "--source", "llm", "--from", f"{session}#3", "Log in UTC")
    assert "> #3  user" in run.ok("why", rule).out


def test_a_long_line_is_whole_and_what_is_around_it_is_cut(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    session = run.ok("log", "start").out.strip()
    run.ok("log", "assistant", "around " * 100, "--session", session)
    result = ("log", "tool_result", "-", "--name", "shell", "--call", "c1", "--session", session)
    run.ok(*result, stdin=b"long " * 1_000)
    data = run.ok("why", learn(run, f"{session}#2"), "--json").json
    assert data["taught"][0]["line"]["cut"] == 5_000
    out = run.ok("why", data["id"]).out
    assert "log show" in out
    assert "more characters" in out
    assert "around " * 3 in " ".join(out.split())
    assert "around " * 60 not in " ".join(out.split())


# ---- who decided ----


def test_a_proposal_is_followed_into_the_memory_that_it_became(run: Runner, session: str) -> None:
    said = ("remember", "--source", "llm", "--from", f"{session}#3", "Use uv", "--json")
    proposal = run.ok("--mode", "copilot", *said).json["id"]
    assert "It waited for you" not in run.ok("why", proposal).out
    assert f"Learned in {session}#3" in run.ok("why", proposal).out
    run.ok("review", "--accept", proposal)
    (rule,) = (entry["id"] for entry in run.ok("list", "--json").json)
    out = run.ok("why", rule).out
    assert "It waited for you first, because: " in out
    assert out.index("The assistant proposed") < out.index("You accepted a proposal")
    receipt = run.ok("why", rule, "--json").json["receipt"]
    assert (receipt["op"], receipt["by"]) == ("accept", "user")
    assert receipt["waited"]


def test_what_a_memory_was_made_of_is_told_with_its_transcripts(
    run: Runner, session: str, memory: Path
) -> None:
    rule = run.remember("Use uv")
    (memory / "archive.md").write_text(
        f"- Pip is slow <!-- id:aaaaaaa1 from:{session}#1 reason:merged replaced:{rule} -->\n"
        f"- Pip is old <!-- id:aaaaaaa2 from:{session}#3 reason:merged replaced:aaaaaaa1 -->\n"
        "- Else <!-- id:aaaaaaa3 reason:merged replaced:zzzzzzzz -->\n",
        encoding="utf-8",
    )
    out = run.ok("why", rule).out
    assert "It replaces\naaaaaaa1  Pip is slow" in out
    data = run.ok("why", rule, "--json").json
    assert [each["id"] for each in data["made_of"]] == ["aaaaaaa1", "aaaaaaa2"]
    assert [each["pointer"] for each in data["taught"]] == [f"{session}#1", f"{session}#3"]
    assert run.ok("why", "aaaaaaa2").out.startswith("Pip is old\n")


def test_a_duplicate_that_was_merged_is_told(run: Runner, session: str, memory: Path) -> None:
    lessons = memory / "lessons.md"
    lessons.write_text(
        f"- CI is slow <!-- id:aaaaaaa1 source:llm from:{session}#1 ts:2026-01-01 -->\n"
        f"- ci is slow. <!-- id:aaaaaaa2 source:llm from:{session}#3 ts:2026-01-02 -->\n",
        encoding="utf-8",
    )
    run.ok("compact", "--yes")
    (kept,) = run.ok("list", "--json").json
    data = run.ok("why", kept["id"], "--json").json
    assert {each["pointer"] for each in data["taught"]} == {f"{session}#1", f"{session}#3"}
    assert len(data["made_of"]) == 1


def test_what_was_migrated_names_its_file_and_line(run: Runner, memory: Path) -> None:
    notes = memory.parent.parent / "CLAUDE.md"
    notes.write_text("# Notes\n\n- CI takes nine minutes\n", encoding="utf-8")
    run.ok("migrate", "--yes", "CLAUDE.md")
    (lesson,) = run.ok("list", "--json").json
    out = run.ok("why", lesson["id"]).out
    assert "You said so, in CLAUDE.md:3." in out
    assert "You brought in older notes" in out


# ---- git ----


def test_without_git_it_says_so_in_a_word(run: Runner, rule: str) -> None:
    assert "It is in no git repository.\n" in run.ok("why", rule).out
    data = run.ok("why", rule, "--json").json
    assert (data["commit"], data["no_commit"]) == (None, "is in no git repository")


def test_the_commit_that_brought_it_is_told(run: Runner, rule: str, memory: Path) -> None:
    desk = Desk(memory.parent.parent)
    assert "It is not committed yet.\n" in run.ok("why", rule).out
    first = desk.commit("Begin\x1b[31m")
    run.ok("edit", rule, "Never push to production")
    desk.commit("Change")
    run.ok("forget", rule)
    desk.commit("Forget")
    out = run.ok("why", rule).out
    assert f"It is in git since commit {first[:10]} of " in out
    assert " by Ada: Begin␛[31m" in " ".join(out.split("\n"))
    assert run.ok("why", rule, "--json").json["commit"]["id"] == first


def test_a_line_by_hand_is_found_by_its_words(run: Runner, memory: Path) -> None:
    desk = Desk(memory.parent.parent)
    desk.commit("Begin")
    (memory / "lessons.md").write_text("- By <!-- mine --> hand\n", encoding="utf-8")
    second = desk.commit("By hand")
    (found,) = run.ok("list", "--json").json
    assert run.ok("why", found["id"], "--json").json["commit"]["id"] == second


def test_a_proposal_by_hand_is_found_by_its_words(run: Runner, memory: Path) -> None:
    desk = Desk(memory.parent.parent)
    (memory / "pending.md").write_text("- [ ] Rest on Sundays\n", encoding="utf-8")
    first = desk.commit("Begin")
    (found,) = run.ok("review", "--json").json["pending"]
    assert run.ok("why", found["id"], "--json").json["commit"]["id"] == first


def test_a_proposal_for_all_projects_is_found_where_it_waits(run: Runner, memory: Path) -> None:
    (memory / "pending.md").write_text(
        "- [ ] Log in UTC <!-- id:p81dz5ka kind:always scope:global source:llm -->\n",
        encoding="utf-8",
    )
    first = Desk(memory.parent.parent).commit("Begin")
    assert run.ok("why", "p81dz5ka", "--json").json["commit"]["id"] == first


def test_what_a_pull_brought_is_told_with_who_wrote_it(
    run: Runner, rule: str, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(memory.parent.parent)
    desk.commit("Begin")
    desk.git("clone", "--quiet", str(desk.top), str(tmp_path / "clone"))
    clone = Desk(tmp_path / "clone", init=False)
    monkeypatch.chdir(clone.top)
    assert f"by {desk.author}" in run.ok("why", rule).out
    run.remember("Mine")
    monkeypatch.chdir(desk.top)
    desk.author = "Grace"
    theirs = run.remember("Theirs")
    pulled = desk.commit("Theirs")
    monkeypatch.chdir(clone.top)
    clone.git("stash", "--quiet")
    clone.git("pull", "--quiet", "--ff-only")
    out = run.ok("why", theirs).out
    assert f"It came with commit {pulled[:10]} of " in out
    assert "by Grace: Theirs" in out


def test_the_beginning_of_a_shallow_clone_is_said_to_be_one(
    run: Runner, rule: str, memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(memory.parent.parent)
    desk.commit("Begin")
    desk.commit("More")
    desk.git("clone", "--quiet", "--depth=1", f"file://{desk.top}", str(tmp_path / "clone"))
    monkeypatch.chdir(tmp_path / "clone")
    assert "older commits were not fetched" in " ".join(run.ok("why", rule).out.split())
    assert run.ok("why", rule, "--json").json["shallow"] is True


def test_git_that_fails_hides_nothing_else(
    run: Runner, rule: str, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Desk(memory.parent.parent).commit("Begin")
    monkeypatch.setenv("PATH", "/nowhere")
    out = run.ok("why", rule).out
    assert "git: git is not installed" in out
    assert "You remembered" in out


# ---- as a library ----


def test_a_program_asks_the_same(run: Runner, session: str) -> None:
    rule = learn(run, f"{session}#3")
    other = run.remember("Never push to main")
    cortex = Cortex.open()
    known = cortex.why(rule[:6])
    assert (known.found, known.waited) == (cortex.find(rule), "")
    assert known.first is not None
    assert known.first.step.op == "encode"
    assert [str(each.pointer) for each in known.taught] == [f"{session}#3"]
    with pytest.raises(EntryNotFoundError):
        cortex.why("zzzz")
    cortex.forget(other)
    assert cortex.why(other).found == cortex.scopes.stores[1].archived()[0]
    (cortex.scopes.stores[1].memory / "lessons.md").write_text(
        "- a <!-- id:aaaaaaa1 -->\n- b <!-- id:aaaaaaa2 -->\n", encoding="utf-8"
    )
    with pytest.raises(AmbiguousIdError):
        cortex.why("aaaaaaa")
