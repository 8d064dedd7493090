"""``recall`` finds memories by their words, one hit a line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Runner


def test_a_hit_has_a_place_an_id_and_the_text(run: Runner, memory: Path) -> None:
    entry_id = run.remember("Always run the linter before pushing")
    run.remember("CI takes nine minutes")
    done = run.ok("recall", "linter")
    line = next(
        at
        for at, row in enumerate((memory / "rules.md").read_text(encoding="utf-8").split("\n"), 1)
        if "linter before pushing <" in row
    )
    text = "Always run the linter before pushing  (always, project)"
    assert done.out == f"rules.md:{line}  {entry_id}  {text}\n"


def test_without_a_terminal_a_hit_is_one_line(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    run.ok("remember", "--lesson", "-", stdin=f"The build:\n  {'long ' * 60}passes".encode())
    assert run.ok("recall", "build").out.count("\n") == 1


def test_nothing_found_is_code_1(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    done = run("recall", "quantum")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "engramdown: nothing found for 'quantum'; `engramdown list` shows everything\n"
    )


def test_nothing_found_is_an_empty_list_for_a_program(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    done = run("recall", "quantum", "--json")
    assert (done.code, done.json) == (1, [])


def test_hits_can_be_limited(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    for number in range(3):
        run.remember(f"The linter has rule {number}")
    assert len(run.ok("recall", "-n", "2", "linter", "--json").json) == 2


def test_both_scopes_are_searched(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    run.remember("The linter is ruff")
    run.remember("--global", "Never skip the linter")
    found = run.ok("recall", "linter", "--json").json
    assert {hit["scope"] for hit in found} == {"project", "global"}
    assert all(Path(hit["path"]).is_file() for hit in found)


def test_any_text_is_a_query(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    for query in ('"', "AND OR NOT", "(", "*", "a:b", "\x00", "💥", "--"):
        assert run("recall", "--", query).code in (0, 1)


def test_what_could_fool_a_terminal_is_shown(run: Runner, memory: Path) -> None:
    with (memory / "lessons.md").open("a", encoding="utf-8") as lessons:
        lessons.write("- linter \x1b[31mred\u202e\n")
    done = run.ok("recall", "linter")
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    assert run.ok("recall", "linter", "--json").json[0]["text"] == "linter \x1b[31mred\u202e"
