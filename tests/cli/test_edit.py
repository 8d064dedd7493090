"""``edit``, ``forget`` and ``restore`` change what they are told, and nothing in a dry run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engramdown import Cortex
from tests.cli.conftest import Runner


@pytest.fixture
def rule(run: Runner, memory: Path) -> str:
    """Remember a rule and return its id."""
    assert memory.is_dir()
    return run.remember("Never push to main")


def text_of(run: Runner, entry_id: str) -> str:
    found: str = run.ok("show", entry_id, "--json").json["text"]
    return found


def editor(monkeypatch: pytest.MonkeyPatch, folder: Path, code: str) -> None:
    """Let ``$EDITOR`` be a program that runs ``code`` with the file's path as ``path``."""
    program = folder / "an editor.py"
    program.write_text(
        f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\n{code}\n", encoding="utf-8"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} '{program}'")


def test_a_text_is_changed_and_the_id_stays(run: Runner, rule: str) -> None:
    done = run.ok("edit", rule[:4], "Never", "push to production")
    assert done.out.startswith("Changed rules.md:")
    assert "-Never push to main" in done.out
    assert "+Never push to production" in done.out
    assert text_of(run, rule) == "Never push to production"


def test_only_the_line_changes(run: Runner, rule: str, memory: Path) -> None:
    before = (memory / "rules.md").read_text(encoding="utf-8")
    run.ok("edit", rule, "Never push to production")
    after = (memory / "rules.md").read_text(encoding="utf-8")
    assert after == before.replace("Never push to main", "Never push to production")


def test_the_editor_gets_the_text_and_gives_it_back(
    run: Runner, rule: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = "text = path.read_text(encoding='utf-8')\nassert text == 'Never push to main\\n', text\n"
    code += "path.write_text('Two\\n  lines, é\\n', encoding='utf-8')"
    editor(monkeypatch, tmp_path, code)
    run.ok("edit", rule)
    assert text_of(run, rule) == "Two\n  lines, é"


def test_saving_without_a_change_changes_nothing(
    run: Runner, rule: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor(monkeypatch, tmp_path, "")
    assert run.ok("edit", rule).out == "Nothing changed.\n"
    assert len(run.ok("why", rule, "--json").json["steps"]) == 1


def test_an_emptied_file_is_refused(
    run: Runner, rule: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor(monkeypatch, tmp_path, "path.write_text('\\n', encoding='utf-8')")
    done = run("edit", rule)
    assert done.code == 2
    assert f"engramdown forget {rule}" in done.err


def test_an_editor_that_fails_changes_nothing(
    run: Runner, rule: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor(monkeypatch, tmp_path, "path.write_text('x', encoding='utf-8')\nsys.exit(1)")
    done = run("edit", rule)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert text_of(run, rule) == "Never push to main"


def test_without_an_editor_the_other_way_is_said(run: Runner, rule: str) -> None:
    done = run("edit", rule)
    assert done.code == 2
    assert "give the new text behind the id" in done.err


def test_a_page_is_named_as_a_file(run: Runner) -> None:
    for name in ("soul", "SOUL.md", "profile.md"):
        done = run("edit", name)
        assert (done.code, "a page is a file; `engramdown show " in done.err) == (2, True)


def test_a_secret_does_not_come_in_by_an_edit(run: Runner, rule: str, memory: Path) -> None:
    token = "ghp_" + "1234567890abcdefghij" + "ABCDEFGHIJ123456"
    done = run("edit", rule, f"Use {token}")
    assert token not in done.out + done.err
    assert token not in (memory / "rules.md").read_text(encoding="utf-8")


def test_a_line_written_by_hand_stays_plain(run: Runner, memory: Path) -> None:
    lessons = memory / "lessons.md"
    lessons.write_text("# Mine\n\n* By hand\n", encoding="utf-8")
    (found,) = run.ok("list", "--json").json
    run.ok("edit", found["id"], "By my hand")
    assert lessons.read_text(encoding="utf-8") == "# Mine\n\n* By my hand\n"


def test_an_edit_has_a_dry_run(run: Runner, rule: str, memory: Path) -> None:
    before = (memory / "rules.md").read_bytes()
    done = run.ok("edit", "--dry-run", rule, "Never push to production")
    assert "+- Never push to production" in done.out
    assert done.out.count("+- Never") == 1
    assert (memory / "rules.md").read_bytes() == before


def test_an_edit_has_json(run: Runner, rule: str) -> None:
    assert run.ok("edit", "--json", rule, "Never push").json["text"] == "Never push"
    assert run.ok("edit", "--json", rule, "Never push").json == {"changed": False, "id": rule}


def test_what_is_forgotten_waits_in_the_archive(run: Runner, rule: str, memory: Path) -> None:
    done = run.ok("forget", rule, "--why", "we push to main now")
    assert f"engramdown restore {rule}" in " ".join(done.out.split())
    assert "Never push" not in (memory / "rules.md").read_text(encoding="utf-8")
    assert "Never push" in (memory / "archive.md").read_text(encoding="utf-8")
    assert "we push to main now" in run.ok("history").out


def test_what_is_forgotten_comes_back(run: Runner, rule: str, memory: Path) -> None:
    before = (memory / "rules.md").read_text(encoding="utf-8")
    run.ok("forget", rule)
    done = run.ok("restore", rule[:5])
    assert done.out.startswith("Restored in rules.md:")
    assert (memory / "rules.md").read_text(encoding="utf-8") == before


def test_several_memories_are_forgotten_at_once(run: Runner, rule: str) -> None:
    other = run.remember("Always log in UTC")
    done = run.ok("forget", rule, other, rule, "--json").json
    assert [entry["id"] for entry in done["forgotten"]] == [rule, other]
    assert run("list").code == 1


def test_nothing_is_forgotten_when_one_id_is_wrong(run: Runner, rule: str) -> None:
    assert run("forget", rule, "zzzzzzzz").code == 1
    assert text_of(run, rule) == "Never push to main"


def test_a_forgotten_memory_says_that_it_is_retired(run: Runner, rule: str) -> None:
    run.ok("forget", rule)
    done = run("edit", rule, "Other")
    assert done.code == 1
    assert done.err == (
        f"engramdown: {rule} is retired; `engramdown restore {rule}` brings it back\n"
    )


@pytest.mark.parametrize("command", ["restore", "forget", "why"])
def test_a_prefix_of_what_is_retired_in_both_scopes_is_told(
    command: str, run: Runner, memory: Path
) -> None:
    run.remember("--global", "Always log in UTC")
    (found,) = run.ok("list", "--json").json
    archives = {"k3v9aaaa": Path(found["path"]).parent / "archive.md"}
    archives["k3v9bbbb"] = memory / "archive.md"
    for entry_id, path in archives.items():
        line = f"- About {entry_id} <!-- id:{entry_id} kind:lesson reason:forgotten -->\n"
        path.write_text(line, encoding="utf-8")
    done = run(command, "k3v9")
    assert (done.code, done.out) == (1, "")
    assert "'k3v9' could be any of these" in done.err
    assert all(f"About {entry_id}" in done.err for entry_id in archives)


@pytest.mark.parametrize("command", ["forget", "restore", "edit", "why"])
def test_an_unknown_id_is_code_1(command: str, run: Runner, rule: str) -> None:
    assert rule
    done = run(command, "zzzz", *(["x"] if command == "edit" else []))
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("command", ["forget", "restore"])
def test_forgetting_and_restoring_have_a_dry_run(
    command: str, run: Runner, rule: str, memory: Path
) -> None:
    if command == "restore":
        run.ok("forget", rule)
    before = {path: path.read_bytes() for path in memory.rglob("*.md")}
    done = run.ok(command, "--dry-run", rule)
    assert "nothing is written" in done.out
    assert "- Never push to main" in done.out
    assert {path: path.read_bytes() for path in memory.rglob("*.md")} == before


def test_an_id_that_was_shown_finds_what_was_retired(run: Runner, memory: Path) -> None:
    lessons = memory / "lessons.md"
    lessons.write_text("# Lessons\n\n- Written by hand\n", encoding="utf-8")
    (entry_id,) = [each["id"] for each in run.ok("list", "--json").json]
    assert entry_id.startswith("_")
    for _ in range(2):  # it has an address again when it is back
        assert f"restore {entry_id}" in " ".join(run.ok("forget", entry_id).out.split())
        assert run.ok("show", entry_id, "--json").json["source"] == "user"
        assert "You said so" in run.ok("why", entry_id).out
        assert "Written by hand" not in lessons.read_text(encoding="utf-8")
        run.ok("restore", entry_id[:4])
        assert lessons.read_text(encoding="utf-8") == "# Lessons\n\n- Written by hand\n"
    cortex = Cortex.open(project=memory.parents[1])
    cortex.forget(entry_id)
    assert cortex.restore(entry_id).text == "Written by hand"
    cortex.forget(entry_id)
    assert cortex.scopes.project_hc.restore(entry_id).text == "Written by hand"


@pytest.mark.parametrize("editor", ["vi \\", "vi 'x"])
def test_an_editor_that_is_no_command_is_named(
    run: Runner, memory: Path, monkeypatch: pytest.MonkeyPatch, editor: str
) -> None:
    assert memory.is_dir()
    found = run.remember("Use uv")
    monkeypatch.setenv("EDITOR", editor)
    done = run("edit", found)
    assert done.code == 2
    assert f"$VISUAL or $EDITOR is {editor!r}, which is not a command" in done.err


def test_what_is_not_retired_points_at_the_archive(run: Runner, rule: str) -> None:
    for wanted in ("nope", rule):
        done = run("restore", wanted)
        assert done.code == 1
        assert "in archive.md; `engramdown list --archived` shows the ids" in done.err
    assert "`engramdown list` shows the ids" in run("show", "nope").err


def test_the_new_address_of_a_line_by_hand_is_said(run: Runner, memory: Path, rule: str) -> None:
    with (memory / "lessons.md").open("a", encoding="utf-8") as file:
        file.write("- CI is slow\n")
    before = run.ok("list", "--json").json[-1]["id"]
    out = " ".join(run.ok("edit", before, "CI is fast").out.split())
    now = run.ok("list", "--json").json[-1]["id"]
    assert before != now
    assert f"its address changes with its text: {before} is {now} now." in out
    assert "address" not in run.ok("edit", rule, "Never push to production").out
