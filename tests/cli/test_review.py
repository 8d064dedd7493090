"""``review`` asks one key each, or does what options and ticks say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Runner
from tests.cli.terminal import Terminal


def propose(run: Runner, text: str, *options: str) -> str:
    """Let a proposal wait and return its id."""
    done = run.ok("--mode", "copilot", "remember", "--source", "llm", "--json", *options, text)
    assert done.json["action"] == "queued"
    found: str = done.json["id"]
    return found


def texts(run: Runner) -> list[str]:
    return [entry["text"] for entry in run("list", "--json").json]


@pytest.fixture
def three(run: Runner, memory: Path) -> list[str]:
    """Let three proposals wait and return their ids."""
    assert memory.is_dir()
    return [
        propose(run, "CI is slow"),
        propose(run, "Use pytest fixtures", "--always"),
        propose(run, "Staging is reset at two"),
    ]


# ---- without a terminal ----


def test_what_waits_is_listed(run: Runner, three: list[str]) -> None:
    out = run.ok("review").out
    assert all(proposal in out for proposal in three)
    assert "3 waiting. Decide by ticking in pending.md" in out
    assert [item["id"] for item in run.ok("review", "--json").json["pending"]] == three


def test_nothing_waiting_is_no_error(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    assert run.ok("review").out == "Nothing is waiting.\n"


def test_options_decide(run: Runner, three: list[str]) -> None:
    done = run.ok("review", "--accept", three[0][:5], "--decline", three[1])
    assert "Declined; it is not proposed again." in done.out
    assert "Remembered in lessons.md:" in done.out
    assert "1 waiting." in done.out
    assert texts(run) == ["CI is slow"]


def test_options_can_be_repeated(run: Runner, three: list[str]) -> None:
    run.ok("review", "--accept", three[0], "--accept", three[2])
    assert texts(run) == ["CI is slow", "Staging is reset at two"]


def test_all_accepts_what_is_not_named(run: Runner, three: list[str]) -> None:
    done = run.ok("review", "--all", "--decline", three[0], "--json").json
    assert [receipt["action"] for receipt in done["receipts"]] == [
        "discarded",
        "encoded",
        "encoded",
    ]
    assert done["pending"] == []
    assert texts(run) == ["Use pytest fixtures", "Staging is reset at two"]


def test_a_text_can_be_edited_on_the_way(run: Runner, three: list[str]) -> None:
    run.ok("review", "--edit", three[1], "Use fixtures, not setUp")
    assert texts(run) == ["Use fixtures, not setUp"]


def test_what_was_declined_is_not_proposed_again(run: Runner, three: list[str]) -> None:
    run.ok("review", "--decline", three[0])
    done = run("remember", "--source", "llm", "CI is slow")
    assert done.code == 1
    assert "turned this down" in done.err


@pytest.mark.parametrize("option", ["--accept", "--decline"])
def test_nothing_is_decided_when_one_id_is_wrong(
    option: str, run: Runner, three: list[str]
) -> None:
    done = run("review", option, three[0], "--accept", "zzzz")
    assert done.code == 1
    assert [item["id"] for item in run.ok("review", "--json").json["pending"]] == three


def test_one_proposal_is_decided_once(run: Runner, three: list[str]) -> None:
    done = run("review", "--accept", three[0], "--decline", three[0])
    assert done.code == 2
    assert f"{three[0]} is named twice" in done.err


def test_a_prefix_of_several_proposals_lists_them(run: Runner, memory: Path) -> None:
    text = (
        "- [ ] One <!-- id:aaaaaaa1 kind:lesson -->\n- [ ] Two <!-- id:aaaaaaa2 kind:lesson -->\n"
    )
    (memory / "pending.md").write_text(text, encoding="utf-8")
    done = run("review", "--accept", "aaaa")
    assert done.code == 1
    assert "  aaaaaaa1  One\n  aaaaaaa2  Two\n" in done.err


def test_ticks_are_applied_first(run: Runner, three: list[str], memory: Path) -> None:
    pending = memory / "pending.md"
    text = pending.read_text(encoding="utf-8")
    text = text.replace("[ ] CI is slow", "[x] CI is very slow").replace("[ ] Use", "[-] Use")
    pending.write_text(text, encoding="utf-8")
    done = run.ok("review")
    assert "Remembered in lessons.md:" in done.out
    assert "Declined" in done.out
    assert texts(run) == ["CI is very slow"]
    assert [item["id"] for item in run.ok("review", "--json").json["pending"]] == three[2:]


def test_a_decision_has_a_dry_run(run: Runner, three: list[str], memory: Path) -> None:
    before = {path: path.read_bytes() for path in memory.rglob("*.md")}
    done = run.ok("review", "--dry-run", "--accept", three[1])
    assert "+- Use pytest fixtures <!--" in done.out
    assert {path: path.read_bytes() for path in memory.rglob("*.md")} == before


def test_a_held_proposal_says_why(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    token = "ghp_" + "1234567890abcdefghij" + "ABCDEFGHIJ123456"
    run.ok("remember", f"The key is {token}")
    out = run.ok("review").out
    assert "Waits because: holds a secret" in out
    assert token not in out


def test_what_it_would_replace_is_shown_as_a_diff(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    run.ok("init", "--global")
    run.remember("Name: Ada")
    propose(run, "Name: Bob", "--profile")
    out = run.ok("review").out
    assert "  - Name: Ada\n" in out
    assert "  + Name: Bob\n" in out


def test_what_it_is_like_is_shown(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    entry_id = run.remember("Always run the linter before pushing")
    propose(run, "Always run the linter before you push", "--always")
    assert f"like  {entry_id}  rules.md:" in run.ok("review").out


# ---- on a terminal ----


def test_one_key_each_decides(
    run: Runner, three: list[str], child_env: dict[str, str], memory: Path
) -> None:
    with Terminal(["engramdown", "review"], child_env) as screen:
        screen.expect(f"1 of 3 · pending.md:3 · {three[0]}")
        screen.expect("> ")
        screen.press("d")
        screen.expect("decline\nDeclined")
        screen.expect("2 of 3")
        screen.expect("> ")
        screen.press("a")
        screen.expect("accept\nRemembered in rules.md:")
        screen.expect("3 of 3")
        screen.expect("> ")
        screen.press("s")
        screen.expect("skip\n")
        screen.expect("2 decided, 1 still waiting.")
        assert screen.end() == 0
        assert "\x1b[" in screen.raw
    assert texts(run) == ["Use pytest fixtures"]
    assert "- [ ] Staging" in (memory / "pending.md").read_text(encoding="utf-8")


def test_all_of_a_kind_is_one_key(run: Runner, three: list[str], child_env: dict[str, str]) -> None:
    assert three
    with Terminal(["engramdown", "review"], child_env) as screen:
        screen.expect("> ")
        screen.press("A")
        screen.expect("Remembered in lessons.md:")
        screen.expect("Remembered in lessons.md:")
        screen.expect("2 of 3")
        screen.expect("> ")
        screen.press("d")
        screen.expect("3 decided, 0 still waiting.")
        assert screen.end() == 0
    assert texts(run) == ["CI is slow", "Staging is reset at two"]


def test_all_lessons_is_no_yes_to_taking_one_away(
    run: Runner, memory: Path, child_env: dict[str, str]
) -> None:
    kept = run.remember("CI is slow", "--kind", "lesson")
    lines = [
        "- [ ] Builds are cached <!-- id:aaaaaaaa kind:lesson source:llm -->",
        f"- [ ] Delete: CI is slow <!-- id:bbbbbbbb kind:lesson op:forget of:{kept} -->",
    ]
    (memory / "pending.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Terminal(["engramdown", "review"], child_env) as screen:
        screen.expect("> ")
        screen.press("A")
        screen.expect("2 of 2")
        screen.expect("> ")
        screen.press("q")
        screen.expect("1 decided, 1 still waiting.")
        assert screen.end() == 0
    assert texts(run) == ["CI is slow", "Builds are cached"]


@pytest.mark.parametrize("key", ["q", "\x04", "\x1b"])
def test_quitting_loses_nothing(
    key: str, run: Runner, three: list[str], child_env: dict[str, str]
) -> None:
    assert three
    with Terminal(["engramdown", "review"], child_env) as screen:
        screen.expect("> ")
        screen.press("a")
        screen.expect("2 of 3")
        screen.expect("> ")
        screen.press(key)
        screen.expect("1 decided, 2 still waiting.")
        assert screen.end() == 0
    assert texts(run) == ["CI is slow"]


def test_ctrl_c_keeps_what_was_decided(
    run: Runner, three: list[str], child_env: dict[str, str]
) -> None:
    assert three
    with Terminal(["engramdown", "review"], child_env) as screen:
        screen.expect("> ")
        screen.press("a")
        screen.expect("2 of 3")
        screen.expect("> ")
        screen.press("\x03")
        screen.expect("Stopped.")
        assert screen.end() == 130
        assert "Traceback" not in screen.text
    assert texts(run) == ["CI is slow"]


# Each with what accepting it does, and whether it has words that can be edited.
OPERATIONS = {
    "encode": ("Log in UTC <!-- id:wwwwwwww kind:lesson -->", "it is remembered", 1),
    "forget": ("Delete: CI is slow <!-- id:wwwwwwww op:forget of:ID -->", "it is forgotten", 0),
    "replace": ("CI is fast <!-- id:wwwwwwww op:replace of:ID -->", "it takes the place of", 1),
    "move": ("Move: CI is slow <!-- id:wwwwwwww op:move of:ID topic:ci -->", "it is moved", 0),
    "expire": ("Remove: CI is slow <!-- id:wwwwwwww op:expire of:ID -->", "it is retired", 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 100])
@pytest.mark.parametrize("case", OPERATIONS.values(), ids=[*OPERATIONS])
def test_the_help_fits_the_question_and_the_window(
    case: tuple[str, str, int],
    columns: int,
    run: Runner,
    memory: Path,
    child_env: dict[str, str],
) -> None:
    task, does, has_words = case
    kept = run.remember("CI is slow", "--kind", "lesson", "--expires", "2999-01-01")
    row = task.replace("of:ID", f"of:{kept}")
    (memory / "pending.md").write_text(f"# Pending\n\n- [ ] {row}\n", encoding="utf-8")
    env = {**child_env, "EDITOR": "false"}
    with Terminal(["engramdown", "review"], env, columns=columns) as screen:
        screen.expect("> ")
        screen.press("?")
        screen.expect("> ")
        screen.press("e")
        screen.expect("> ")
        screen.press("q")
        screen.expect("stop\n")
        assert screen.end() == 0
        shown = screen.text
    assert all(len(line) <= columns for line in shown.split("\n"))
    told = " ".join(shown.split())
    assert f"a accept: {does}" in told
    assert ("e edit: change" in told) is bool(has_words)
    assert ("Editing failed" in told) is bool(has_words)
    assert ("it is remembered" in told) is (does == "it is remembered")
    # What stands below a key begins where its words do.
    helped = shown[shown.index("a  accept:") : shown.index("q  stop:")].split("\n")
    assert all(re.match(r"[aedsA]  \w|   \S|$", line) for line in helped)


def test_any_other_key_explains(three: list[str], child_env: dict[str, str]) -> None:
    assert three
    with Terminal(["engramdown", "review"], child_env) as screen:
        screen.expect("> ")
        screen.press("?")
        screen.expect("d  decline: it is not proposed again, re-worded or not")
        screen.expect("> ")
        screen.press("q")
        assert screen.end() == 0


@pytest.mark.parametrize("editor", ["VISUAL", "EDITOR"])
def test_a_proposal_can_be_edited_in_an_editor(
    editor: str, run: Runner, three: list[str], child_env: dict[str, str], tmp_path: Path
) -> None:
    assert three
    program = tmp_path / "editor.py"
    code = "import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n"
    code += "assert path.read_text() == 'CI is slow\\n'\npath.write_text('CI is fast\\n')\n"
    program.write_text(code, encoding="utf-8")
    env = {**child_env, editor: f"{sys.executable} {program}"}
    env.pop("PYTHONWARNDEFAULTENCODING")
    with Terminal(["engramdown", "review"], env) as screen:
        screen.expect("> ")
        screen.press("e")
        screen.expect("Remembered in lessons.md:")
        screen.press("q")
        assert screen.end() == 0
    assert texts(run) == ["CI is fast"]


def test_an_editor_that_fails_asks_again(
    run: Runner, three: list[str], child_env: dict[str, str]
) -> None:
    with Terminal(["engramdown", "review"], {**child_env, "EDITOR": "false"}) as screen:
        screen.expect("> ")
        screen.press("e")
        screen.expect("engramdown: false: Editing failed")
        screen.expect("> ")
        screen.press("q")
        assert screen.end() == 0
    assert [item["id"] for item in run.ok("review", "--json").json["pending"]] == three


def test_a_proposal_that_was_ticked_meanwhile_is_passed_over(
    run: Runner, three: list[str], child_env: dict[str, str], memory: Path
) -> None:
    assert three
    pending = memory / "pending.md"
    with Terminal(["engramdown", "review"], child_env) as screen:
        screen.expect("> ")
        rows = pending.read_text(encoding="utf-8").split("\n")
        left = "\n".join(row for row in rows if "CI is slow" not in row)
        (memory / "new").write_text(left, encoding="utf-8")
        (memory / "new").replace(pending)
        screen.press("a")
        screen.expect("engramdown: no memory with id")
        screen.expect("> ")
        screen.press("a")
        screen.expect("Remembered in rules.md:")
        screen.press("q")
        assert screen.end() == 0
    assert texts(run) == ["Use pytest fixtures"]


def test_a_proposal_fits_a_narrow_terminal(three: list[str], child_env: dict[str, str]) -> None:
    assert three
    with Terminal(["engramdown", "review"], child_env, columns=30) as screen:
        screen.expect("> ")
        screen.press("q")
        assert screen.end() == 0
        assert all(len(row) <= 30 for row in screen.text.split("\n"))


def test_the_global_scope_is_offered_on_a_terminal(
    child_env: dict[str, str], isolated_home: Path
) -> None:
    with Terminal(["engramdown", "init"], child_env) as screen:
        screen.expect("[Y/n]")
        screen.type("n")
        assert screen.end() == 0
    assert not (isolated_home / ".engramdown").exists()
    with Terminal(["engramdown", "init"], child_env) as screen:
        screen.expect("[Y/n]")
        screen.type("")
        assert screen.end() == 0
    assert (isolated_home / ".engramdown" / "memory" / "profile.md").is_file()


def test_the_tour_waits_for_a_key(child_env: dict[str, str]) -> None:
    with Terminal(["engramdown", "tour"], child_env) as screen:
        screen.expect("1. Memory is a folder")
        screen.expect("Any key goes on, q stops.")
        screen.press(" ")
        screen.expect("2. You say something once")
        screen.expect("Any key goes on, q stops.")
        screen.press("q")
        assert screen.end() == 0
        assert "3. " not in screen.text


def test_a_fast_tour_waits_for_nobody(child_env: dict[str, str]) -> None:
    with Terminal(["engramdown", "tour", "--fast"], child_env) as screen:
        screen.expect("That was all; the folder is gone.")
        assert screen.end() == 0


def test_what_is_not_there_is_not_said_to_be_forgotten(run: Runner, memory: Path) -> None:
    line = "- [ ] Remove: x <!-- id:bbbbbbbb kind:lesson op:forget of:zzzzzzzz -->\n"
    (memory / "pending.md").write_text(line, encoding="utf-8")
    done = run("review", "--accept", "bbbb")
    assert done.code != 0
    assert "Forgot" not in done.out
    assert "no memory with id 'zzzzzzzz' is there" in " ".join(done.out.split())
    run.ok("review", "--decline", "bbbb")
