"""``recall`` finds memories by their words, then what was said, one hit a line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Done, Runner
from tests.episodes.transcripts import line


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


def test_nothing_found_is_empty_lists_for_a_program(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    done = run("recall", "quantum", "--json")
    assert (done.code, done.json) == (1, {"memories": [], "episodes": []})


def test_hits_can_be_limited(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    for number in range(3):
        run.remember(f"The linter has rule {number}")
    assert len(run.ok("recall", "-n", "2", "linter", "--json").json["memories"]) == 2


def test_both_scopes_are_searched(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    run.remember("The linter is ruff")
    run.remember("--global", "Never skip the linter")
    found = run.ok("recall", "linter", "--json").json["memories"]
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
    (hit,) = run.ok("recall", "linter", "--json").json["memories"]
    assert hit["text"] == "linter \x1b[31mred\u202e"


@pytest.fixture
def said(run: Runner, memory: Path) -> str:
    """Say two things on two days, keep a memory of it, and return the id of the session."""
    run.remember("Never sail without the red boat")
    folder = memory.parent / "episodes"
    folder.mkdir()
    lines = [
        line(0, "", role="event", event="start", v=1, session="lake"),
        line(1, "Where is the red boat?"),
        line(2, "In the boat house,\nbehind \x1b[31mthe mill"),
        line(3, "boat boat", 60 * 24 * 3, role="tool_result", name="look"),
    ]
    (folder / "lake.jsonl").write_bytes(b"".join(lines))
    return "lake"


def pointers(done: Done) -> list[str]:
    return [hit["pointer"] for hit in done.json["episodes"]]


def test_what_was_said_stands_below_what_is_remembered(run: Runner, said: str) -> None:
    rows = run.ok("recall", "red boat").out.rstrip("\n").split("\n")
    assert "Never sail without the red boat" in rows[0]
    assert [row.partition("  ")[0] for row in rows[1:]] == ["lake#1", "lake#2", "lake#3"]
    assert rows[2].endswith("assistant  In the boat house, behind ␛[31mthe mill")
    assert said in rows[1]


def test_a_program_gets_both_apart(run: Runner, said: str) -> None:
    found = run.ok("recall", "red boat", "--json").json
    assert [hit["text"] for hit in found["memories"]] == ["Never sail without the red boat"]
    first = found["episodes"][0]
    assert first.pop("score") > 0
    assert first == {
        "pointer": "lake#1",
        "session": said,
        "seq": 1,
        "time": "2026-02-27T10:16:00.000000Z",
        "role": "user",
        "name": "",
        "text": "Where is the red boat?",
        "snippet": "Where is the red boat?",
    }


@pytest.mark.parametrize(
    "options, memories, episodes",
    [
        pytest.param(["--exact"], 0, ["lake#3"], id="exact"),
        pytest.param(
            ["--role", "user", "--role", "tool_result"], 0, ["lake#1", "lake#3"], id="role"
        ),
        pytest.param(["--session", "la"], 0, ["lake#1", "lake#2", "lake#3"], id="session"),
        pytest.param(["--since", "2026-03-01"], 1, ["lake#3"], id="since"),
        pytest.param(["--until", "2026-02-28"], 0, ["lake#1", "lake#2"], id="until"),
        pytest.param(["--days", "1"], 1, [], id="days"),
        pytest.param(["-n", "1"], 1, ["lake#1"], id="limit"),
    ],
)
def test_an_option_narrows_both(
    run: Runner, said: str, options: list[str], memories: int, episodes: list[str]
) -> None:
    assert said
    query = "boat boat" if options == ["--exact"] else "Where is the red boat"
    done = run("recall", *options, query, "--json")
    assert (len(done.json["memories"]), sorted(pointers(done))) == (memories, episodes)


def test_exact_finds_a_memory_that_holds_the_string(run: Runner, said: str) -> None:
    assert said
    found = run.ok("recall", "--exact", "THE RED", "--json").json
    assert [hit["text"] for hit in found["memories"]] == ["Never sail without the red boat"]
    assert [hit["pointer"] for hit in found["episodes"]] == ["lake#1"]


def test_what_was_said_is_found_where_no_memory_is(run: Runner, said: str) -> None:
    assert run.ok("recall", "mill").out.startswith(f"{said}#2  ")


def test_a_session_that_is_not_there_is_refused(run: Runner, said: str) -> None:
    assert said
    done = run("recall", "--session", "sea", "boat")
    assert (done.code, done.out) == (1, "")
    assert "sea" in done.err


def test_a_date_that_is_none_is_wrong_usage(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    done = run("recall", "--since", "soon", "boat")
    assert done.code == 2
    assert "'soon' is not a date" in done.err


def test_the_transcripts_of_the_global_scope_are_searched_without_a_project(
    run: Runner, isolated_home: Path
) -> None:
    (isolated_home / ".engramdown").mkdir()
    assert run("log", "user", "The zeppelin landed").code == 0
    assert "The zeppelin landed" in run.ok("recall", "zeppelin").out


def test_embeddings_that_are_off_are_told_beside_the_hits(
    run: Runner, said: str, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = isolated_home / ".engramdown"
    home.mkdir()
    setting = '[episodes]\nembedder = "fastembed:x"\n'
    (home / "config.toml").write_text(setting, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "fastembed", None)
    done = run.ok("recall", "mill")
    assert done.out.startswith(f"{said}#2  ")
    assert done.err == (
        "note: embeddings are off for this recall: fastembed is not installed; "
        "run pip install 'engramdown[embeddings]'\n"
    )


@pytest.mark.usefixtures("said")
def test_without_words_a_range_of_time_is_shown(run: Runner) -> None:
    found = run.ok("recall", "--since", "2000-01-01", "--json").json
    assert [hit["text"] for hit in found["memories"]] == ["Never sail without the red boat"]
    assert [hit["pointer"] for hit in found["episodes"]] == ["lake#3", "lake#2", "lake#1"]
    assert pointers(run.ok("recall", "--until", "2026-03-01", "--json", "-n", "1")) == ["lake#2"]
    assert pointers(run.ok("recall", "--days", "9999", "--role", "user", "--json")) == ["lake#1"]
    done = run("recall", "--since", "2999-01-01")
    assert (done.code, done.out) == (1, "")
    assert "nothing was learned or said in that time" in done.err
    done = run("recall")
    assert done.code == 2
    assert "give WORDS, or --since" in done.err
