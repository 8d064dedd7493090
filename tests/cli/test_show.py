"""``list`` and ``show`` tell what stands where, and what is unusual about it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from freezegun import freeze_time

from tests.cli.conftest import Runner
from tests.tables import every


@pytest.fixture
def filled(memory: Path, run: Runner) -> Path:
    """Fill memory with one of each."""
    with freeze_time("2026-03-01 12:00"):
        run.remember("Always run the linter before pushing")
        run.remember("Never push to main")
    with freeze_time("2026-03-31 12:00"):
        run.remember("--source", "llm", "--topic", "CI", "CI takes nine minutes")
        run.remember("--global", "When it rains, stay in")
        run.remember("My name is Ada")
    with (memory / "lessons.md").open("a", encoding="utf-8") as lessons:
        lessons.write("- By hand\n")
    return memory


def texts(run: Runner, *options: str) -> list[str]:
    return [entry["text"] for entry in run("list", "--json", *options).json]


def test_memories_are_grouped_by_file(run: Runner, filled: Path) -> None:
    rows = run.ok("list").out.split("\n")
    heads = [row for row in rows if row and row[0] != " "]
    assert heads == [
        "rules.md  all projects",
        "profile.md  all projects",
        "rules.md  this project",
        "lessons.md  this project",
    ]
    assert "  Always" in rows
    assert filled.is_dir()


@pytest.mark.usefixtures("reader")
def test_a_list_fits(run: Runner, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run.remember("A long one: " + "words and more words " * 9 + "https://example.org/" + "x" * 99)
    for columns in (80, 40, 20):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert all(len(row) <= columns for row in run.ok("list").out.split("\n")), columns
    assert filled.is_dir()


def test_what_is_unusual_is_said(run: Runner, filled: Path) -> None:
    out = run.ok("list").out
    assert "(topic ci, medium confidence, from the assistant, 2026-03-31)" in " ".join(out.split())
    assert "  By hand\n" in out
    assert filled.is_dir()


@every(
    "options, count",
    [
        (["--kind", "never"], 1),
        (["--kind", "never", "--kind", "always"], 2),
        (["--scope", "global"], 2),
        (["--topic", "ci"], 1),
        (["--topic", "CI"], 1),
        (["--confidence", "medium"], 1),
        (["--source", "llm"], 1),
        (["--older", "20"], 2),
        (["--newer", "20"], 3),
        (["--older", "20", "--kind", "never"], 1),
    ],
)
def test_a_list_can_be_filtered(options: list[str], count: int, run: Runner, filled: Path) -> None:
    with freeze_time("2026-04-01 12:00"):
        assert len(texts(run, *options)) == count
    assert filled.is_dir()


def test_nothing_that_passes_is_code_1(run: Runner, filled: Path) -> None:
    done = run("list", "--topic", "nothing")
    assert (done.code, done.out) == (1, "")
    assert "no memory passes these filters" in done.err
    assert filled.is_dir()


def test_an_empty_memory_says_how_to_begin(run: Runner, memory: Path) -> None:
    done = run("list")
    assert done.code == 1
    assert "engramdown remember" in done.err
    assert memory.is_dir()


def test_retired_memories_are_listed_apart(run: Runner, filled: Path) -> None:
    entry_id = run.remember("Soon gone")
    assert run("list", "--archived").code == 1
    run.ok("forget", entry_id)
    assert "Soon gone" not in texts(run)
    done = run.ok("list", "--archived")
    assert done.out.startswith(f"{entry_id}  Soon gone  (forgotten, by you, ")
    (found,) = run.ok("list", "--archived", "--json").json
    assert (found["id"], found["reason"]) == (entry_id, "forgotten")
    assert filled.is_dir()


def test_a_memory_is_shown_in_full_by_a_prefix(run: Runner, filled: Path) -> None:
    entry_id = run.remember("--source", "llm", "--from", "s1#2", "The build needs two passes")
    done = run.ok("show", entry_id[:6])
    raw = next(
        row
        for row in (filled / "lessons.md").read_text(encoding="utf-8").split("\n")
        if "two passes" in row
    )
    shown = " ".join(done.out.split())
    assert raw in shown
    for fact in (entry_id, "the assistant", "medium", "inferred", "s1#2", "project", "why"):
        assert fact in shown


def test_json_of_a_memory_has_its_raw_line(run: Runner, filled: Path) -> None:
    entry_id = run.remember("The build needs two passes")
    found = run.ok("show", entry_id, "--json").json
    assert found["state"] == "kept"
    assert found["raw"].startswith("- The build needs two passes <!-- id:")
    assert Path(found["path"]) == filled / "lessons.md"


def test_a_line_written_by_hand_has_an_address(run: Runner, filled: Path) -> None:
    (found,) = [entry for entry in run.ok("list", "--json").json if entry["text"] == "By hand"]
    assert found["id"].startswith("_")
    assert run.ok("show", found["id"][:4], "--json").json["raw"] == "- By hand\n"
    assert filled.is_dir()


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["sh", "bash", "zsh -f", "fish --no-config"])
def test_an_address_can_be_typed_in_every_shell(
    shell: str, run: Runner, filled: Path, child_env: dict[str, str]
) -> None:
    program, *options = shell.split()
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    (found,) = [entry for entry in run.ok("list", "--json").json if entry["text"] == "By hand"]
    for name in (found["id"], found["id"][1:], f"'~{found['id'][1:]}'"):
        done = subprocess.run(
            [program, *options, "-c", f"engramdown show {name}"],
            cwd=filled,
            env=child_env,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert (done.returncode, "By hand" in done.stdout) == (0, True), (name, done)


def test_an_address_without_its_mark_that_begins_an_id_is_said_to_be_ambiguous(
    run: Runner, memory: Path
) -> None:
    (memory / "lessons.md").write_text("- By hand\n", encoding="utf-8")
    (found,) = [entry["id"] for entry in run.ok("list", "--json").json]
    (memory / "lessons.md").write_text(
        f"- By hand\n- Ours <!-- id:{found[1:]}x -->\n", encoding="utf-8"
    )
    done = run("show", found[1:])
    assert done.code == 1
    assert f"{found}  lessons.md:1  By hand" in done.err
    assert f"{found[1:]}x  lessons.md:2  Ours" in done.err
    assert run.ok("show", found, "--json").json["text"] == "By hand"


def test_a_journal_and_a_question_with_addresses_of_before_still_work(
    run: Runner, memory: Path
) -> None:
    lessons, pending = memory / "lessons.md", memory / "pending.md"
    lessons.write_text("- By hand\n", encoding="utf-8")
    (found,) = [entry["id"] for entry in run.ok("list", "--json").json]
    run.ok("edit", found, "Changed", "by hand")
    journal = memory.parent / "history.jsonl"
    before = re.sub(rb'"_([0-9a-z]{7})"', rb'"~\1"', journal.read_bytes())
    assert before != journal.read_bytes()
    journal.write_bytes(before)
    now = run.ok("list", "--json").json[0]["id"]
    assert len(run.ok("why", now, "--json").json["steps"]) == 1
    pending.write_text(
        f"- [ ] Changed by hand <!-- id:bbbbbbbb kind:lesson op:forget of:~{now[1:]} -->\n",
        encoding="utf-8",
    )
    assert run.ok("show", "bbbb", "--json").json["replaces"]["id"] == now
    run.ok("review", "--accept", "bbbb")
    assert "by hand" not in lessons.read_text(encoding="utf-8")


def test_a_prefix_of_several_lists_them(run: Runner, memory: Path) -> None:
    (memory / "lessons.md").write_text(
        "- One <!-- id:aaaaaaa1 -->\n- Two\n  lines <!-- id:aaaaaaa2 -->\n", encoding="utf-8"
    )
    done = run("show", "aaaa")
    assert (done.code, done.out) == (1, "")
    assert done.err.split("\n")[-4:] == [
        "engramdown: 'aaaa' could be any of these; give more characters",
        "  aaaaaaa1  lessons.md:1  One",
        "  aaaaaaa2  lessons.md:2  Two lines",
        "",
    ]
    assert run("show", "aaaaaaa1").code == 0


@pytest.mark.parametrize("entry_id", ["zzzz", "", "~"])
def test_an_unknown_id_says_where_ids_are_shown(entry_id: str, run: Runner, memory: Path) -> None:
    done = run("show", entry_id)
    assert done.code == 1
    assert "`engramdown list` shows the ids" in done.err
    assert memory.is_dir()


def test_what_waits_and_what_is_retired_is_shown_too(run: Runner, memory: Path) -> None:
    waiting = run.ok(
        "--mode", "copilot", "remember", "--source", "llm", "--json", "CI is slow"
    ).json["id"]
    gone = run.remember("Soon gone")
    run.ok("forget", gone)
    assert run.ok("show", waiting, "--json").json["state"] == "pending"
    assert "waits in" in run.ok("show", waiting).out
    assert run.ok("show", gone, "--json").json["state"] == "archived"
    assert "forgotten" in run.ok("show", gone).out
    assert memory.is_dir()


def test_what_could_fool_a_terminal_is_shown(run: Runner, memory: Path) -> None:
    nasty = "- red \x1b[31m\u202e \ufeff <!-- id:aaaaaaa1 -->\n"
    (memory / "lessons.md").write_text(nasty, encoding="utf-8")
    for arguments in (["list"], ["show", "aaaaaaa1"], ["why", "aaaaaaa1"], ["history"]):
        out = run.ok(*arguments).out
        assert not {"\x1b", "\u202e", "\ufeff"} & set(out), arguments
    assert run.ok("list", "--json").json[0]["text"].startswith("red \x1b[31m\u202e")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_shows_nothing_of_itself(encoding: str, run: Runner, memory: Path) -> None:
    rule = run.remember("Always use uv")
    run.remember("CI is slow")
    lessons = memory / "lessons.md"
    kept = lessons.read_text(encoding="utf-8")
    lessons.write_bytes((kept + "- Xylophones play\n").encode(encoding))
    (memory / "pending.md").write_bytes("- [x] Xylophones wait\n".encode(encoding))
    (memory / "soul.md").write_bytes("Xylophones are calm\n".encode(encoding))
    before = {path.name: path.read_bytes() for path in memory.glob("*.md")}
    for words in (
        *(["list"], ["recall", "x"], ["context"], ["stats"], ["review"]),
        *(["history"], ["doctor"], ["show", rule], ["why", rule], ["show", "soul"], ["undo"]),
        *(["remember", "--lesson", "More of it"], ["sleep"], ["compact"], ["list", "--archived"]),
        *(["hook", "session-start"], ["list", "--json"], ["doctor", "--fix", "--yes"]),
    ):
        done = run(*words)
        shown = re.sub("[^a-z]", "", (done.out + done.err).casefold())
        assert "xylophones" not in shown, words
        assert "\u2400" not in done.out, words
        if words == ["list"]:
            assert done.code == 3
            assert "looks like UTF-16" in done.err
            assert "Always use uv" in done.out
    after = {path.name: path.read_bytes() for path in memory.glob("*.md")}
    assert {name: after[name] for name in ("lessons.md", "pending.md", "soul.md")} == {
        name: before[name] for name in ("lessons.md", "pending.md", "soul.md")
    }
    # Nobody deleted what could not be read for a while.
    for name in ("pending.md", "soul.md"):
        (memory / name).unlink()
    lessons.write_text(kept, encoding="utf-8")
    assert texts(run) == ["Always use uv", "CI is slow"]
    assert run("list", "--archived").code == 1
