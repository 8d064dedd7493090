"""engramdown watch: a real process beside a person who saves files."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engramdown.cli.output import STOPPED
from tests.cli.conftest import Runner
from tests.cli.program import Program
from tests.cli.terminal import Terminal
from tests.conftest import PATIENCE

Start = Callable[..., Program]


def begin(start: Start, *arguments: str) -> Program:
    """Begin to watch, and wait until nothing escapes it."""
    watcher = start("watch", *arguments)
    for _ in ("global", "project"):
        if "--json" in arguments:
            assert watcher.next()["what"] == "watching"
        else:
            assert watcher.note().startswith("note: watching ")
    return watcher


def add(path: Path, line: str) -> None:
    """Add a line to a file, as an editor that writes in place does."""
    path.write_text(path.read_text(encoding="utf-8") + line, encoding="utf-8")


@pytest.fixture
def rules(memory: Path) -> Path:
    """Return the file of the rules."""
    return memory / "rules.md"


def git(env: dict[str, str], *arguments: str) -> None:
    """Run git."""
    subprocess.run(["git", *arguments], check=True, env=env, capture_output=True)


@pytest.mark.slow
def test_a_line_that_is_typed_tells_which_kind_it_is_read_as(rules: Path, start: Start) -> None:
    watcher = begin(start)
    rules.write_text("# Rules\n\n## Always\n\n## When\n\n- It rains, stay in\n", encoding="utf-8")
    assert "Learned: It rains, stay in (when, rules.md:7, id _" in watcher.line()
    add(rules, "- Mine is the kitchen\n")  # under the last heading, whatever was meant
    assert "Learned: Mine is the kitchen (when, rules.md:8, id _" in watcher.line()
    add(rules.with_name("lessons.md"), "- CI is slow\n")
    assert "Learned: CI is slow (lessons.md:" in watcher.line()


@pytest.mark.slow
def test_each_change_is_a_line_of_json(rules: Path, start: Start) -> None:
    watcher = begin(start, "--json", "--poll")
    add(rules, "- Mine is the kitchen\n")
    found = watcher.next()
    facts = [found[key] for key in ("what", "text", "by", "scope")]
    assert facts == ["learned", "Mine is the kitchen", "person", "project"]
    assert found["path"] == str(rules)
    line = rules.read_text(encoding="utf-8").split("\n")[found["line"] - 1]
    assert line.startswith("- Mine is")
    text = rules.read_text(encoding="utf-8")
    rules.write_text(text.replace("the kitchen", "the big kitchen"), encoding="utf-8")
    found = watcher.next()
    facts = [found[key] for key in ("what", "text", "before")]
    assert facts == ["changed", "Mine is the big kitchen", "Mine is the kitchen"]


@pytest.mark.slow
def test_a_person_reads_one_sentence_each(run: Runner, rules: Path, start: Start) -> None:
    watcher = begin(start)
    known = run.remember("--lesson", "CI is slow")
    told = watcher.line()
    assert told[2] == told[5] == ":"
    assert told[10:] == f"Learned: CI is slow (lessons.md:11, id {known}, you)\n"
    run.ok("forget", known)
    assert watcher.line()[10:] == f"Forgot: CI is slow (lessons.md, id {known}, you)\n"
    add(rules, "\nSome prose.\n")
    watcher.line()
    add(rules, f"- Token {'ghp_' + 'a1B2' * 9}\n")
    assert "a1B2" not in watcher.line()


@pytest.mark.slow
def test_no_sentence_hides_a_comment_inside_a_line(rules: Path, start: Start) -> None:
    watcher = begin(start)
    lines = ("Alpha <!-- curl evil --> beta", "Mu <!-- curl evil", "Xi <!-- curl \x1b[8mevil -->")
    before = rules.read_text(encoding="utf-8")
    for text in lines:
        add(rules, f"\n- {text}\n")
        told = watcher.line()
        assert re.search(r"Learned: .*curl.*evil", told), told
        assert "\x1b" not in told
        rules.write_text(before, encoding="utf-8")
        assert re.search(r"Forgot: .*curl.*evil", watcher.line())


@pytest.mark.slow
@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("number, code", [(signal.SIGINT, STOPPED), (signal.SIGTERM, 0)])
def test_a_signal_ends_it(
    start: Start,
    number: signal.Signals,
    code: int,
) -> None:
    watcher = begin(start)
    said = "\nStopped.\n" if number == signal.SIGINT else ""
    assert watcher.end(number) == (code, said)


@pytest.mark.usefixtures("memory")
def test_a_reader_that_goes_away_ends_it_even_if_nothing_happens(start: Start) -> None:
    watcher = begin(start)
    watcher.close()
    assert watcher.process.wait(PATIENCE) == 141


@pytest.mark.slow
def test_trouble_is_said_beside_the_changes_and_ends_nothing(
    rules: Path, memory: Path, start: Start
) -> None:
    watcher = begin(start)
    memory.rename(memory.with_name("away"))
    assert watcher.note() == f"note: {memory}: is gone; waiting for it\n"
    memory.with_name("away").rename(memory)
    assert watcher.note() == f"note: no longer: {memory}: is gone; waiting for it\n"
    add(rules, "- After all\n")
    assert "Learned: After all" in watcher.line()


def test_what_was_changed_before_is_taken_in_and_said_to_be(
    rules: Path, memory: Path, start: Start
) -> None:
    add(rules, "- Before\n")
    found = start("watch", "--json").next()
    assert found["what"] == "remark"
    assert found["text"] == f"{memory}: took in what you or git changed"


@pytest.mark.slow
def test_where_there_is_no_memory_yet_it_waits_for_it(
    run: Runner,
    tmp_path: Path,
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    watcher = begin(start, "--json")
    run.ok("init", "--no-global")
    found = watcher.next()
    assert (found["what"], found["scope"]) == ("remark", "project")
    run.remember("--lesson", "CI is slow")
    assert watcher.next()["text"] == "CI is slow"


@pytest.mark.slow
def test_of_a_burst_a_person_is_shown_the_beginning_and_a_program_all(
    run: Runner, rules: Path, start: Start
) -> None:
    plain = begin(start)
    data = begin(start, "--json")
    add(rules, "".join(f"- Rule {number}\n" for number in range(50)))
    assert [data.next()["text"] for _ in range(50)] == [f"Rule {number}" for number in range(50)]
    shown = [plain.line() for _ in range(21)]
    assert "Rule 19" in shown[19]
    assert shown[20] == "    ... and 30 more; `engramdown history` shows all\n"
    assert run.ok("list").out.count("Rule ") == 50


def test_a_person_at_a_terminal_is_told_what_is_watched(
    rules: Path, child_env: dict[str, str]
) -> None:
    with Terminal(["engramdown", "watch"], child_env, columns=40) as terminal:
        terminal.expect("Ctrl-C stops.")
        shown = " ".join(terminal.text.split())
        assert "(all projects)" in shown
        assert "(this project)" in shown
        add(rules, "- Never push to main, never, not even on a Friday at noon \x1b[31m\n")
        terminal.expect("you, by hand)")
        assert terminal.interrupt() == STOPPED
    rows = terminal.text.split("\n")
    assert max(map(len, rows)) <= 40
    assert "\x1b[31mF" not in terminal.raw
    assert "␛[31m" in terminal.raw
    assert "\x1b[32m" in terminal.raw


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("vim") is None, reason="no vim")
def test_a_person_may_work_in_vim(rules: Path, start: Start, child_env: dict[str, str]) -> None:
    watcher = begin(start, "--json")
    for backup in ("no", "yes", "auto"):
        subprocess.run(
            [
                *("vim", "-u", "NONE", "-N", "-es", "-c", f"set backupcopy={backup}"),
                *("-c", "$", "-c", f"put ='- Written with {backup}'", "-c", "wq", str(rules)),
            ],
            env={**os.environ, **child_env},
            check=False,
            stdin=subprocess.DEVNULL,
        )
        found = watcher.next()
        assert (found["what"], found["text"]) == ("learned", f"Written with {backup}")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("vim") is None, reason="no vim")
def test_what_is_taken_in_leaves_a_file_alone_that_is_open_in_an_editor(
    run: Runner, rules: Path, start: Start, child_env: dict[str, str]
) -> None:
    entry_id = run.remember("Always use npm")
    watcher = begin(start, "--json")
    command = ["vim", "-u", "NONE", "-i", "NONE", "-N", str(rules)]
    with Terminal(command, {**child_env, "TERM": "xterm"}) as vim:
        vim.expect("npm")
        for old, new in (("npm", "pnpm"), ("pnpm", "bun")):
            vim.press(f":%s/{old}/{new}/\r:w\r")
            found = watcher.next()
            assert (found["what"], found["text"]) == ("changed", f"Always use {new}")
        vim.press(":q\r")
        assert vim.end() == 0
    assert "WARNING" not in vim.raw
    assert "basis" not in rules.read_text(encoding="utf-8")
    assert run.ok("show", entry_id, "--json").json["basis"] == "verified"
    # The next step of ours that writes the file writes the mark, and its undo leaves it.
    run.ok("remember", "--topic", "ci", "CI is slow")
    assert "basis" not in rules.read_text(encoding="utf-8")
    run.ok("remember", "Never push to main")
    marked = rules.read_text(encoding="utf-8")
    assert re.search(rf"- Always use bun <!-- id:{entry_id} [^\n]*basis:verified", marked)
    run.ok("undo")
    assert "basis:verified" in rules.read_text(encoding="utf-8")
    assert "Never push to main" not in rules.read_text(encoding="utf-8")


def test_what_a_person_changed_stays_theirs_when_git_takes_it_away_and_brings_it_back(
    run: Runner, rules: Path, child_env: dict[str, str]
) -> None:
    entry_id = run.remember("--source", "llm", "Always use npm")
    git(child_env, "init", "-q", "-b", "main")
    git(child_env, "add", ".engramdown")
    git(child_env, "commit", "-qm", "main")
    git(child_env, "checkout", "-qb", "other")
    run.ok("remember", "Never push to main")
    rules.write_text(rules.read_text(encoding="utf-8").replace("npm", "pnpm"), encoding="utf-8")
    assert run.ok("show", entry_id, "--json").json["basis"] == "verified"
    git(child_env, "commit", "-qam", "other")
    for branch, text, basis in (("main", "npm", "inferred"), ("other", "pnpm", "verified")):
        git(child_env, "checkout", "-q", branch)
        found = run.ok("show", entry_id, "--json").json
        assert (found["text"], found["basis"]) == (f"Always use {text}", basis)
        run.ok("list")


@pytest.mark.slow
def test_a_switch_of_branches_is_gits_and_a_hand_edit_behind_it_the_persons(
    run: Runner, memory: Path, start: Start, child_env: dict[str, str]
) -> None:
    run.remember("--lesson", "On main")
    git(child_env, "init", "-q", "-b", "main")
    git(child_env, "add", ".engramdown")
    git(child_env, "commit", "-qm", "main")
    git(child_env, "checkout", "-qb", "other")
    (memory / "topics").mkdir(exist_ok=True)
    for number in range(200):
        (memory / "topics" / f"t{number}.md").write_text(f"- Lesson {number}\n", encoding="utf-8")
    run.remember("--lesson", "On the other branch")
    git(child_env, "add", ".engramdown")
    git(child_env, "commit", "-qm", "other")
    watcher = begin(start, "--json")
    git(child_env, "checkout", "-q", "main")
    found = [watcher.next() for _ in range(201)]
    assert {item["by"] for item in found} == {"git"}
    assert {item["what"] for item in found} == {"forgot"}
    assert "On the other branch" in {item["text"] for item in found}
    add(memory / "lessons.md", "- By hand\n")
    item = watcher.next()
    assert (item["text"], item["by"]) == ("By hand", "person")
    # What git took away, nobody deleted.
    assert not (memory / "archive.md").exists()
