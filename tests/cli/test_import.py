"""``import`` and ``export`` as a person uses them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from engramdown.cli import output, process, transfer
from engramdown.cli import transfer as transfer_messages
from engramdown.importers.importer import sources
from tests.cli.conftest import Runner
from tests.importers.shop import claude_line, write_lines


@pytest.fixture
def inbox(memory: Path) -> Path:
    """Stand in a project with a transcript to import, and return where that is."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    lines: list[Any] = [
        {"type": "summary", "summary": "Red CI", "leafUuid": "x"},
        claude_line(1, "Why is CI red?\x1b[31m"),
        claude_line(2, "") | {"type": "assistant", "message": {"content": [call]}},
        "damaged",
    ]
    return write_lines(memory.parent.parent / "inbox" / "a.jsonl", lines).parent


def test_a_dry_run_shows_what_would_come(run: Runner, inbox: Path, memory: Path) -> None:
    done = run.ok("import", "--dry-run", str(inbox))
    assert "Would import 2 episodes of 1 session." in done.out
    assert "Red CI" in done.out
    assert "Left out: 1 summary: not part of the conversation" in done.out
    assert "Dry run: nothing is written." in done.out
    assert f"{inbox}/a.jsonl: skipped 1: is not a record of Claude Code (4)" in done.err
    assert not (memory.parent / "episodes").exists()


def test_what_came_is_told_and_twice_is_nothing(run: Runner, inbox: Path) -> None:
    assert "Imported 2 episodes of 1 session." in run.ok("import", str(inbox)).out
    again = run.ok("import", str(inbox)).out
    assert again.startswith("Nothing new.")
    assert "1 file unchanged." in again


def test_json_tells_a_program(run: Runner, inbox: Path) -> None:
    told = run.ok("import", "--json", str(inbox), "--from", "claude-code").json
    assert (told["new"], told["known"], told["dry_run"]) == (2, 0, False)
    (file,) = told["files"]
    assert (file["source"], file["state"]) == ("claude-code", "read")
    (session,) = file["sessions"]
    assert (session["title"], session["new"], session["fresh"]) == ("Red CI", 2, True)
    assert file["skipped"][1] == {
        "reason": "is not a record of Claude Code",
        "count": 1,
        "damaged": True,
        "lines": [4],
    }
    assert run.ok("log", "--json").json


def test_many_sessions_are_not_all_listed(run: Runner, inbox: Path) -> None:
    lines = [{"messages": [{"role": "user", "content": str(n)}]} for n in range(25)]
    path = write_lines(inbox / "many.jsonl", lines)
    assert "… and 5 sessions more; --json lists all." in run.ok("import", str(path)).out


def test_a_last_line_that_is_being_written_is_told(run: Runner, inbox: Path) -> None:
    with (inbox / "a.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"type":')
    assert "the last line is unfinished" in run.ok("import", str(inbox)).err


def test_what_is_no_transcript_is_refused(run: Runner, inbox: Path) -> None:
    (inbox / "a.jsonl").write_text('{"x": 1}\n', "utf-8")
    done = run("import", str(inbox))
    assert done.code == 1
    assert "no transcript found there; --from says what it is: claude-code," in done.err
    assert run("import", str(inbox / "gone")).code == 2
    assert run("import").code == 2
    assert run("import", str(inbox), "--purge-import", "anton").code == 2


def test_a_file_that_cannot_be_read_is_told(
    run: Runner, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", fail)
    done = run("import", "--json", str(inbox))
    assert done.code == 1
    assert "a.jsonl: cannot be read: Permission denied" in done.err


def test_a_purge_says_what_goes(run: Runner, inbox: Path) -> None:
    run.ok("import", str(inbox))
    said = run.ok("import", "--purge-import", "claude-code", "--dry-run").out
    assert "Would remove 1 session imported from claude-code." in said
    told = run.ok("import", "--purge-import", "claude-code", "--json").json
    assert (len(told["sessions"]), told["source"], told["dry_run"]) == (1, "claude-code", False)
    done = run("import", "--purge-import", "claude-code")
    assert done.code == 1
    assert "nothing here was imported from claude-code" in done.err


def test_nothing_is_imported_where_recording_is_off(
    run: Runner, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMDOWN_EPISODES", "off")
    assert run("import", str(inbox)).code == 1
    assert run("import", str(inbox), "--dry-run").code == 0


def test_it_can_be_kept_for_all_projects(run: Runner, inbox: Path, memory: Path) -> None:
    run.ok("import", "--global", str(inbox))
    assert not (memory.parent / "episodes").exists()
    assert "Why is CI red?" in run.ok("export", "claude-code").out


def test_a_session_is_exported_as_a_page_and_as_json(
    run: Runner, inbox: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = run.ok("import", "--json", str(inbox)).json["files"][0]["sessions"][0]["session"]
    page = run.ok("export", name[:14]).out
    assert page.startswith("# `Red CI`\n\n- session: `claude-code-20260227-")
    assert "> Why is CI red?\x1b[31m\n" in page
    monkeypatch.setattr("engramdown.cli.process.is_terminal", lambda _: True)
    assert "> Why is CI red?␛[31m\n" in run.ok("export", name).out
    monkeypatch.undo()
    monkeypatch.chdir(memory.parent.parent)
    target = inbox / "out.json"
    run.ok("export", name, "--format", "json", "-o", str(target))
    written = json.loads(target.read_bytes())
    assert run.ok("export", name, "--json").json == written
    lines = (memory.parent / "episodes" / f"{name}.jsonl").read_text("utf-8").splitlines()
    assert written["episodes"] == [json.loads(each) for each in lines]


def test_all_sessions_are_exported_to_a_folder(run: Runner, inbox: Path) -> None:
    write_lines(inbox / "b.jsonl", [claude_line(1, "half \ud800")])
    run.ok("import", str(inbox))
    folder = inbox / "out" / "pages"
    assert "Exported 2 sessions to" in run.ok("export", "--all", "-o", str(folder)).out
    pages = sorted(folder.iterdir())
    assert [page.suffix for page in pages] == [".md", ".md"]
    assert any("half \\ud800" in page.read_text("utf-8") for page in pages)
    told = run.ok("export", "--all", "--json", "-o", str(folder)).json
    assert sorted(told["files"]) == [str(page.with_suffix(".json")) for page in pages]


def test_what_is_not_one_session_is_refused(run: Runner, inbox: Path) -> None:
    write_lines(inbox / "b.jsonl", [claude_line(1, "x")])
    run.ok("import", str(inbox))
    assert "no session 'zzz'" in run("export", "zzz").err
    done = run("export", "claude")
    assert (done.code, done.err.count("claude-code-20260227-")) == (1, 2)
    assert "is not unique" in done.err
    for wrong in (["export"], ["export", "x", "--all"], ["export", "--all"]):
        assert run(*wrong).code == 2


@pytest.mark.parametrize("target", [".", "/dev/null"])
def test_an_export_replaces_nothing_but_a_file(run: Runner, inbox: Path, target: str) -> None:
    run.ok("import", str(inbox))
    done = run("export", "claude-code", "-o", target)
    assert done.code == 3
    assert f"{target} is not a file; name the file to write with -o" in done.err


def test_an_export_that_fails_leaves_nothing_behind(run: Runner, inbox: Path) -> None:
    run.ok("import", str(inbox))
    folder = inbox / "full"
    folder.mkdir()
    (folder / "there").mkdir()
    assert run("export", "claude-code", "-o", str(folder / "there")).code == 3
    assert [path.name for path in folder.iterdir()] == ["there"]


def test_the_names_of_the_sources_are_those_of_the_readers() -> None:
    assert sorted(transfer.SOURCES) == sorted(sources())


def test_a_bar_is_shown_to_a_person_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with output.bar("Reading", 10) as advance:
        advance(5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(process, "is_terminal", lambda _: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    for columns in (20, 40, 100):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        with output.bar("Reading", 10) as advance:
            advance(10)
        drawn = capsys.readouterr().err.replace("\x1b[?25l", "").replace("\x1b[?25h", "")
        rows = drawn.replace("\r", "\n").split("\n")
        assert any("Reading" in row and "100%" in row for row in rows)
        assert all(len(row) <= columns for row in rows), rows
    monkeypatch.setenv("TERM", "dumb")
    with output.bar("Reading", 10) as advance:
        advance(10)
    assert capsys.readouterr().err == ""


def test_files_that_were_not_read_are_counted() -> None:
    assert transfer_messages.other_files({"unchanged": 1, "unknown": 2}) == (
        "1 file unchanged; 2 files not recognised."
    )


def warm_up(number: int, text: str) -> dict[str, Any]:
    """Return a line in which an assistant tells a sub-agent something."""
    return claude_line(number, text, isSidechain=True, agentId="w1")


def untold(number: int, text: str) -> dict[str, Any]:
    """Return a line of which nothing tells whose it is."""
    line = claude_line(number, text)
    del line["isSidechain"]
    return line


@pytest.mark.parametrize(
    "lines",
    [
        [warm_up(1, "From now on use npm."), claude_line(2, "From now on use uv.")],
        [claude_line(1, "From now on use uv."), warm_up(2, "From now on use npm.")],
        [untold(1, "From now on use npm."), claude_line(2, "From now on use uv.")],
        [warm_up(1, "From now on use npm.")],
        [untold(1, "From now on use npm.")],
    ],
    ids=["warm-up first", "in the middle", "without the key", "of a sub-agent", "no key at all"],
)
def test_what_a_sub_agent_is_told_is_never_learned_as_the_users_word(
    run: Runner, memory: Path, lines: list[Any]
) -> None:
    path = write_lines(memory.parent.parent / "inbox" / "a.jsonl", lines)
    run.ok("import", str(path))
    run("sleep")
    learned = [each["text"] for each in run("list", "--json").json or []]
    assert any("uv" in text for text in learned) == any("uv" in str(each) for each in lines)
    assert not any("npm" in text for text in learned)
    assert "npm" not in run("review", "--json").out
    assert run("recall", "--exact", "npm", "--role", "user").code == 1
