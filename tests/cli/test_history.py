"""``history`` and ``undo`` read the journal and reverse it, but never a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Runner


@pytest.fixture
def rule(run: Runner, memory: Path) -> str:
    """Remember a rule and return its id."""
    assert memory.is_dir()
    return run.remember("Never push to main")


def ops(run: Runner, *options: str) -> list[str]:
    return [step["op"] for step in run("history", "--json", *options).json]


def test_history_shows_the_newest_first(run: Runner, rule: str) -> None:
    run.ok("edit", rule, "Never push to production")
    assert ops(run)[:2] == ["update", "encode"]
    out = run.ok("history").out
    assert out.index("You changed") < out.index("You remembered")
    assert "\n-- Never push to main <!--" in out
    assert "\n+- Never push to production <!--" in out


@pytest.mark.usefixtures("reader")
def test_on_a_terminal_history_is_told_memory_by_memory(run: Runner, rule: str) -> None:
    run.ok("edit", rule, "Never push to production")
    out = run.ok("history").out
    assert "    - - Never push to main <!--" in out
    assert "    + - Never push to production <!--" in out


def test_history_can_be_cut_and_filtered(run: Runner, rule: str) -> None:
    assert rule
    run.remember("CI takes nine minutes")
    run.remember("--global", "Always log in UTC")
    assert len(ops(run, "-n", "2")) == 2
    for name in ("lessons.md", ".engramdown/memory/lessons.md"):
        found = run.ok("history", "--json", "--file", name).json
        assert {"lessons.md"} == {file for step in found for file in step["files"]} & {"lessons.md"}
        assert "encode" in {step["op"] for step in found}
    assert {step["scope"] for step in run.ok("history", "--json", "--global").json} == {"global"}
    assert {step["scope"] for step in run.ok("history", "--json", "--project").json} == {"project"}


def test_no_history_is_code_1(run: Runner, rule: str) -> None:
    assert rule
    done = run("history", "--file", "topics/none.md")
    assert (done.code, done.out) == (1, "")


@pytest.mark.usefixtures("reader")
def test_a_long_step_is_cut_with_a_word(run: Runner, memory: Path) -> None:
    lessons = memory / "lessons.md"
    lessons.write_text("".join(f"- By hand {at}\n" for at in range(40)), encoding="utf-8")
    out = run.ok("history").out
    assert "... and 28 more; --json shows all" in out
    assert max(len(step["changes"]) for step in run.ok("history", "--json").json) == 40


def test_the_last_step_is_undone(run: Runner, rule: str, memory: Path) -> None:
    before = (memory / "rules.md").read_bytes()
    other = run.remember("Always log in UTC")
    done = run.ok("undo")
    assert "(you remembered)" in done.out
    assert f"id:{other}" in done.out
    assert (memory / "rules.md").read_bytes() == before
    run.ok("undo")
    assert rule not in (memory / "rules.md").read_text(encoding="utf-8")


def test_a_named_step_is_undone(run: Runner, rule: str) -> None:
    run.remember("Always log in UTC")
    step = run.ok("why", rule, "--json").json["steps"][0]["id"]
    done = run.ok("undo", step[:6], "--json").json
    assert done["undone"]["id"] == step
    assert [entry["text"] for entry in run.ok("list", "--json").json] == ["Always log in UTC"]


def test_the_newest_step_of_both_scopes_is_undone(run: Runner, rule: str) -> None:
    run.remember("--global", "Always log in UTC")
    assert run.ok("undo", "--json").json["undone"]["scope"] == "global"
    assert [entry["id"] for entry in run.ok("list", "--json").json] == [rule]


def test_a_scope_can_be_chosen_to_undo(run: Runner, rule: str) -> None:
    run.remember("--global", "Always log in UTC")
    run.ok("undo", "--project")
    assert rule not in {entry["id"] for entry in run.ok("list", "--json").json}


def test_what_a_person_wrote_since_is_never_undone(run: Runner, rule: str, memory: Path) -> None:
    rules = memory / "rules.md"
    text = rules.read_text(encoding="utf-8").replace("to main", "on Fridays")
    rules.write_text(text, encoding="utf-8")
    step = run.ok("why", rule, "--json").json["steps"][0]["id"]
    done = run("undo", step)
    assert (done.code, done.out) == (1, "")
    assert "by hand" in done.err
    assert "on Fridays" in rules.read_text(encoding="utf-8")


def rewrite(memory: Path, old: str, new: str) -> None:
    """Change ``rules.md`` by hand."""
    text = (memory / "rules.md").read_text(encoding="utf-8")
    assert old in text
    (memory / "rules.md").write_text(text.replace(old, new), encoding="utf-8")


def test_a_refused_undo_names_the_step_and_the_one_before(
    run: Runner, rule: str, memory: Path
) -> None:
    run.remember("--global", "Log in UTC")
    run.remember("Always lint")
    last, before, first = (step["id"] for step in run("history", "--json").json if step["changes"])
    rewrite(memory, "Always lint", "Always lint twice")
    done = run("undo")
    said = " ".join(done.err.split())
    assert (done.code, done.out) == (1, "")
    assert f"step {last} cannot be undone: rules.md: " in said
    assert f"`engramdown undo {before}` undoes the one before (you remembered, global)" in said
    assert run.ok("undo", before).out.startswith(f"Undone: step {before}")
    assert f"`engramdown undo {first}` undoes the one before" in " ".join(run("undo").err.split())
    run.ok("undo", first)
    assert "the one before" not in run("undo").err
    assert rule not in (memory / "rules.md").read_text(encoding="utf-8")


def test_a_step_whose_lines_you_deleted_is_passed_over(
    run: Runner, rule: str, memory: Path
) -> None:
    before = (memory / "rules.md").read_text(encoding="utf-8")
    run.remember("Always lint")
    last = run("history", "--json").json[0]["id"]
    (memory / "rules.md").write_text(before, encoding="utf-8")
    done = run.ok("undo", "--dry-run", "--json").json
    assert [step["id"] for step in done["passed_over"]] == [last]
    done = run.ok("undo")
    assert done.out.startswith(
        f"Passed over: step {last} (you remembered); nothing that it wrote is left"
    )
    assert f"- - Never push to main <!-- id:{rule}" in done.out
    assert "nothing is left to undo" in run("undo").err


@pytest.mark.slow
def test_a_prefix_of_steps_in_both_scopes_is_told(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    for number in range(20):
        run.remember("--global", f"Rule {number} for all")
        run.remember(f"Rule {number} for this project")
    steps = run("history", "--json", "-n", "100").json
    found: dict[str, set[str]] = {}
    for step in steps:
        found.setdefault(step["id"][:1], set()).add(step["scope"])
    prefix = next(each for each, scopes in found.items() if len(scopes) == 2)
    done = run("undo", prefix)
    assert (done.code, done.out) == (1, "")
    assert "is not unique" in done.err


def test_a_hand_edit_itself_is_not_undone(run: Runner, memory: Path) -> None:
    (memory / "lessons.md").write_text("- By hand\n", encoding="utf-8")
    run.ok("list")
    step = next(each for each in run.ok("history", "--json").json if each["by"] == "person")
    done = run("undo", step["id"])
    assert done.code == 1
    assert "hand edit" in done.err


def test_an_unknown_step_is_code_1(run: Runner, rule: str) -> None:
    assert rule
    done = run("undo", "zzzzzz")
    assert done.code == 1
    assert "`engramdown history` shows the steps" in done.err


def test_nothing_to_undo_is_code_1(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    for _ in range(9):
        done = run("undo")
    assert done.code == 1
    assert "nothing is left to undo" in done.err


def test_an_undo_has_a_dry_run(run: Runner, rule: str, memory: Path) -> None:
    before = (memory / "rules.md").read_bytes()
    done = run.ok("undo", "--dry-run")
    assert "-- Never push to main" in done.out
    assert (memory / "rules.md").read_bytes() == before
    assert run.ok("show", rule).code == 0
