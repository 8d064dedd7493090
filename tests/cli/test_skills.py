"""What a person gets who keeps skills from the command line."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from engramdown import Cortex
from tests.cli.conftest import Runner

TOKEN = "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
DESCRIPTION = "Write release notes. Use before a release."


@pytest.fixture
def skill(run: Runner, memory: Path) -> Path:
    """Stand in a project with one skill, and return its file."""
    run.ok("skills", "new", "notes", "--description", DESCRIPTION)
    return memory.parent / "skills" / "notes" / "SKILL.md"


def test_a_skill_is_written_listed_shown_and_fine(run: Runner, skill: Path) -> None:
    text = f"---\nname: notes\ndescription: {DESCRIPTION}\n---\n# Notes\n"
    assert skill.read_text(encoding="utf-8") == text
    assert DESCRIPTION in run.ok("skills").out
    shown = run.ok("skills", "show", "notes").out
    assert shown.endswith(text)
    assert str(skill) in shown
    assert run.ok("skills", "show", "notes", "--json").json["text"] == text
    assert run.ok("skills", "validate").out == "1 skill is fine.\n"


def test_the_list_is_json_for_programs(run: Runner, skill: Path) -> None:
    listed = run.ok("skills", "list", "--json").json
    assert [each["scope"] for each in listed] == ["project", "builtin", "builtin", "builtin"]
    assert listed[:1] == [
        {
            "label": "notes",
            "scope": "project",
            "path": str(skill),
            "name": "notes",
            "description": DESCRIPTION,
            "findings": [],
            "uses": 0,
            "last_used": None,
            "shadows": None,
            "shadowed_by": None,
        }
    ]


@pytest.mark.usefixtures("memory")
def test_without_skills_the_next_step_is_said(run: Runner) -> None:
    done = run("skills", "--json")
    assert (done.code, {each["scope"] for each in done.json}) == (0, {"builtin"})
    assert "skills new LABEL" in done.err
    done = run("skills", "list", "--global", "--json")
    assert (done.code, done.json) == (1, [])
    assert run.ok("skills", "validate").out == "0 skills are fine.\n"


def test_without_memory_the_next_step_is_said(run: Runner) -> None:
    for words in (["skills"], ["skills", "new", "a", "--description", "b"]):
        done = run(*words)
        assert done.code == 1
        assert "run `engramdown init`" in done.err


def test_the_project_wins_and_both_are_told(run: Runner, skill: Path, isolated_home: Path) -> None:
    run.ok("skills", "new", "notes", "--global", "--description", "As everywhere.")
    run.ok("skills", "new", "maps", "--global", "--description", "Make maps.")
    home = isolated_home / ".engramdown"
    assert (home / ".gitignore").exists()
    assert (home / "memory" / "rules.md").exists()
    listed = " ".join(run.ok("skills").out.split())
    assert "(instead of the one of all projects)" in listed
    assert "(not used: this project's counts)" in listed
    found = {(each["scope"], each["label"]): each for each in run.ok("skills", "--json").json}
    assert found["project", "notes"]["shadows"] == "global"
    assert found["global", "notes"]["shadowed_by"] == "project"
    assert found["global", "maps"]["shadowed_by"] is None
    assert run.ok("skills", "show", "notes", "--json").json["path"] == str(skill)
    assert run.ok("skills", "show", "notes", "--global", "--json").json["scope"] == "global"
    assert run.ok("skills", "show", "maps", "--json").json["scope"] == "global"
    run.ok("skills", "edit", "maps", "--description", "Make plans.")
    assert "Make plans." in run.ok("skills", "list", "--global").out
    skill.unlink()
    assert run.ok("skills", "show", "notes", "--json").json["scope"] == "global"


def test_an_edit_shows_its_diff_and_changes_nothing_else(run: Runner, skill: Path) -> None:
    before = skill.read_bytes()
    done = run.ok("skills", "edit", "notes", "--description", "Use it: now")
    assert '+description: "Use it: now"' in done.out
    new = before.replace(DESCRIPTION.encode(), b'"Use it: now"')
    assert skill.read_bytes() == new
    body = skill.parent.parent / "how.md"
    body.write_bytes(b"One\r\ntwo")
    run.ok("skills", "edit", "notes", "--body-file", str(body))
    assert skill.read_bytes() == new.replace(b"# Notes\n", b"One\r\ntwo")
    run.ok("skills", "edit", "notes", "--body-file", "-", stdin=b"Three\n")
    assert skill.read_bytes() == new.replace(b"# Notes\n", b"Three\n")
    done = run.ok("skills", "edit", "notes", "--body-file", "-", "--json", stdin=b"Three\n")
    assert done.json["changed"] is False
    assert (
        "Nothing changed in"
        in run.ok("skills", "edit", "notes", "--description", "Use it: now").out
    )


def test_a_dry_run_writes_nothing(run: Runner, skill: Path) -> None:
    before = skill.read_bytes()
    done = run.ok("skills", "edit", "notes", "--description", "Other", "--dry-run")
    assert "Dry run: nothing is written." in done.out
    assert "+description: Other" in done.out
    done = run.ok("skills", "edit", "notes", "--description", "Other", "--dry-run", "--json")
    assert done.json["dry_run"] is True
    assert "+description: Other" in done.json["changes"][0]["diff"]
    assert "+name: maps" in run.ok("skills", "new", "maps", "--description", "b", "--dry-run").out
    assert run("skills", "new", "notes", "--description", "b", "--dry-run").code == 1
    assert skill.read_bytes() == before
    assert [path.name for path in skill.parent.parent.iterdir()] == ["notes"]


def test_the_editor_gets_the_whole_file(
    run: Runner, skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "sed -i -e s/Notes/How/ -e s/Write/Make/")
    assert "+# How" in run.ok("skills", "edit", "notes").out
    assert b"description: Make release" in skill.read_bytes()
    assert "Nothing changed in" in run.ok("skills", "edit", "notes").out
    monkeypatch.setenv("EDITOR", "truncate -s 0")
    done = run("skills", "edit", "notes")
    assert done.code == 2
    assert "engramdown skills delete LABEL" in done.err
    monkeypatch.delenv("EDITOR")
    assert "give --description or --body-file" in run("skills", "edit", "notes").err


def test_what_was_typed_is_kept_if_somebody_saved_meanwhile(
    run: Runner, skill: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = tmp_path / "editor"
    script.write_text(f"#!/bin/sh\necho theirs >> {skill}\necho mine >> $1\n", encoding="utf-8")
    script.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(script))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = run("skills", "edit", "notes")
    assert done.code == 1
    assert "was changed since it was read" in done.err
    kept = Path(done.err.split()[-1])
    assert kept.read_text(encoding="utf-8").endswith("# Notes\nmine\n")
    assert skill.read_text(encoding="utf-8").endswith("# Notes\ntheirs\n")


@pytest.mark.parametrize(
    "words, code, message",
    [
        (["new", "notes", "--description", "b"], 1, "is there already; nothing was written"),
        (["new", "../x", "--description", "b"], 2, "'../x' is not a label; use small letters"),
        (["new", "con", "--description", "b"], 2, "a device on Windows"),
        (["new", "maps", "--description", " "], 2, "has 0 characters; 1 to 1024 are allowed"),
        (["new", "maps", "--description", "x" * 1025], 2, "has 1025 characters"),
        (["new", "maps"], 2, "missing option '--description'"),
        (["new", "maps", "--description", TOKEN], 1, "holds a GitHub token; nothing was written"),
        (["edit", "notes", "--description", TOKEN], 1, "holds a GitHub token"),
        (["edit", "notes", "--description", ""], 2, "has 0 characters"),
        (["edit", "notse", "--description", "b"], 1, "did you mean notes?"),
        (["show", "nothing-like-it"], 1, "`engramdown skills list` shows them"),
        (["validate", "maps"], 1, "no skill 'maps'"),
        (["show", "\x1b[31m"], 1, "no skill '\\x1b[31m'"),
        (["lst"], 2, "no command 'lst'; did you mean"),
    ],
)
def test_what_is_refused_names_the_next_step(
    run: Runner, skill: Path, words: list[str], code: int, message: str
) -> None:
    before = skill.read_bytes()
    done = run("skills", *words)
    assert done.code == code
    assert message in done.err
    assert done.err.count("\n") == 1
    assert TOKEN not in done.out + done.err
    assert skill.read_bytes() == before
    assert [path.name for path in skill.parent.parent.iterdir()] == ["notes"]


def test_a_secret_that_stood_there_keeps_nobody_from_another_edit(run: Runner, skill: Path) -> None:
    with skill.open("a", encoding="utf-8") as file:
        file.write(f"{TOKEN}\n")
    run.ok("skills", "edit", "notes", "--description", "b")
    done = run("skills", "validate", "--json")
    assert done.code == 1
    assert TOKEN[:12] not in done.out
    assert done.json["skills"][0]["findings"] == [
        {
            "line": 6,
            "code": "secret",
            "message": "there is a GitHub token",
            "file": "SKILL.md",
            "level": "warning",
            "advice": "Take it out, and name the place where it is kept instead.",
        }
    ]


def test_one_broken_skill_hides_no_other(run: Runner, skill: Path) -> None:
    (skill.parent.parent / "broken").mkdir()
    os.mkfifo(skill.parent.parent / "broken" / "SKILL.md")
    listed = run.ok("skills").out
    assert "a pipe or a device" in listed
    assert DESCRIPTION in listed
    assert run("skills", "show", "broken").code == 3
    done = run("skills", "validate")
    assert done.code == 3
    assert "Put a readable file there." in done.out
    assert run.ok("skills", "validate", "notes").out == "1 skill is fine.\n"


@pytest.mark.parametrize(
    "data",
    [
        b"---\r\nname: notes\r\ndescription: d\r\nx-mine: [a,\r\n  b] # c\r\n---\r\nHow\r\n",
        b"\xef\xbb\xbf---\nname: notes\ndescription: d\n---\nHow",
        b"---\t\nname:  notes  \ndescription: d # \xff\n---\r\nHow \xe9\0\rx\x0c\xe2\x80\xa8\n\n\n",
    ],
    ids=["crlf", "mark-and-no-end", "odd-bytes"],
)
def test_an_editor_changes_what_it_changes_and_no_other_byte(
    run: Runner, skill: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    skill.write_bytes(data)
    beside = [skill.parent / name for name in (".hidden", "plot.bin")]
    for path in beside:
        path.write_bytes(b"\0\xff\r\n")
    monkeypatch.setenv("EDITOR", "sed -i -e s/How/HOW/")
    run.ok("skills", "edit", "notes")
    after = data.replace(b"How", b"HOW")
    assert skill.read_bytes() == after
    monkeypatch.setenv("EDITOR", "sed -i -e '$a\\'")
    run.ok("skills", "edit", "notes")
    assert skill.read_bytes() == after
    run.ok("skills", "edit", "notes", "--description", "Use: it")
    assert skill.read_bytes() == after.replace(b"description: d", b'description: "Use: it"')
    assert [path.read_bytes() for path in beside] == [b"\0\xff\r\n"] * 2


def test_a_folder_of_skills_that_cannot_be_read_hides_no_other(run: Runner, skill: Path) -> None:
    run.ok("skills", "new", "notes", "--global", "--description", "Everywhere")
    folder = skill.parent.parent
    folder.rename(folder.with_name("kept"))
    folder.symlink_to("skills")
    for words in (["list"], ["list", "--json"], ["validate"]):
        done = run("skills", *words)
        assert done.code == 3
        assert str(folder) in done.err
        assert words == ["validate"] or "Everywhere" in done.out
    assert not run("skills", "validate", "--json").json["valid"]
    assert "Everywhere" in run.ok("skills", "show", "notes").out
    assert run("skills", "show", "no-such").code == 3


def test_the_list_says_that_one_that_is_broken_does_not_count(run: Runner, skill: Path) -> None:
    run.ok("skills", "new", "notes", "--global", "--description", "Everywhere")
    skill.write_text("Do it.\n", encoding="utf-8")
    mine, everywhere, *_ = run.ok("skills", "list", "--json").json
    assert (mine["shadowed_by"], mine["shadows"]) == ("global", None)
    assert (everywhere["shadowed_by"], everywhere["shadows"]) == (None, "project")


def test_nothing_of_a_skill_reaches_the_terminal_as_it_is(run: Runner, skill: Path) -> None:
    hostile = "\x1b]0;x\x07\u202eevil\u200b"
    skill.write_text(
        f'---\nname: notes\ndescription: "a {hostile}"\n---\n{hostile}\n', encoding="utf-8"
    )
    for words in (["list"], ["show", "notes"], ["validate"], ["list", "--json"]):
        done = run("skills", *words)
        assert set("\x1b\x07\u202e\u200b").isdisjoint(done.out + done.err)


def test_what_a_crash_left_is_swept_up_by_whoever_looks(run: Runner, skill: Path) -> None:
    left = skill.with_name(f".SKILL.md.{'0' * 16}.{'1' * 16}.00000000.tmp.part")
    left.write_bytes(b"half")
    run.ok("skills")
    assert not left.exists()
    left.write_bytes(b"half")
    skill.parent.parent.chmod(0o500)
    try:
        done = run.ok("skills")
    finally:
        skill.parent.parent.chmod(0o700)
    assert "stays for now" in done.err
    assert DESCRIPTION in done.out


def test_labels_complete(run: Runner, skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert skill.exists()
    monkeypatch.setenv("_ENGRAMDOWN_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "engramdown skills show n")
    monkeypatch.setenv("COMP_CWORD", "3")
    monkeypatch.setattr("sys.argv", ["engramdown"])
    assert "plain,notes" in run("skills").out


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("scope", ["project", "global"])
def test_a_change_of_a_built_in_skill_is_made_to_a_copy(run: Runner, scope: str) -> None:
    words = ["skills", "edit", "find-out-why", "--description", "Ask me."]
    where = [] if scope == "project" else ["--global"]
    planned = run.ok(*words, *where, "--dry-run", "--json").json
    assert planned["dry_run"]
    before = run.ok("skills", "list", "--json").json
    assert {each["scope"] for each in before} == {"builtin"}
    written = run.ok(*words, *where, "--json").json
    assert (written["scope"], written["description"]) == (scope, "Ask me.")
    listed = {(each["scope"], each["label"]): each for each in run.ok("skills", "--json").json}
    assert listed[scope, "find-out-why"]["shadows"] == "builtin"
    assert listed["builtin", "find-out-why"]["shadowed_by"] == scope
    assert "built-in one" in run.ok("skills").out
    # What changes nothing copies nothing.
    said = run.ok("skills", "show", "write-a-skill", "--json").json["description"]
    assert not run.ok("skills", "edit", "write-a-skill", "--description", said, "--json").json[
        "changed"
    ]
    # The next change is one of the copy.
    assert run.ok(*words, *where, "--json").json["changed"] is False


@pytest.mark.usefixtures("memory")
def test_what_is_built_in_is_good(run: Runner) -> None:
    for each in run.ok("skills", "--json").json:
        assert each["findings"] == []
        assert len(each["description"]) < 200 - len(each["label"]), "a model would see it cut"
        text = run.ok("skills", "show", each["label"]).out
        assert "built in" in text
        for command in re.findall(r"`?engramdown ([a-z]+)", text):
            assert run.ok(command, "--help").out, command


def test_how_often_a_model_read_a_skill_is_told(run: Runner, skill: Path) -> None:
    (skill.parent / "scripts").mkdir()
    (skill.parent / "scripts" / "tag.sh").write_text("tag", encoding="utf-8")
    assert "read by assistants" not in run.ok("skills", "show", "notes").out
    cortex = Cortex.open(skill.parents[2])
    for _ in range(2):
        cortex.skills.recall("notes")
    shown = run.ok("skills", "show", "notes").out
    assert "read by assistants 2 times, last on " in shown
    assert "scripts/tag.sh  3 bytes" in shown
    told = run.ok("skills", "show", "notes", "--json").json
    assert (told["uses"], told["files"]) == (2, [{"name": "scripts/tag.sh", "size": 3}])
    assert run.ok("skills", "list", "--json").json[0]["uses"] == 2
    ignored = (skill.parents[2] / ".gitignore").read_text(encoding="utf-8")
    assert "/*" in ignored.split()
    assert "skill-usage" not in ignored


def test_a_skill_is_deleted_with_all_its_files_and_comes_back(run: Runner, skill: Path) -> None:
    (skill.parent / "scripts").mkdir()
    (skill.parent / "scripts" / "run.sh").write_text("true\n", encoding="utf-8")
    text = skill.read_bytes()
    assert "would be put aside" in run.ok("skills", "delete", "notes", "--dry-run").out
    assert skill.is_file()
    told = run.ok("skills", "delete", "notes", "--json").json
    kept = Path(told["kept"])
    assert kept.parent == skill.parents[2] / "skills-replaced"
    assert (kept / "SKILL.md").read_bytes() == text
    assert not skill.parent.exists()
    assert "notes" not in [each["label"] for each in run.ok("skills", "list", "--json").json]
    assert run("skills", "delete", "notes").code != 0
    assert "would be back" in run.ok("skills", "restore", "notes", "--dry-run").out
    run.ok("skills", "restore", "notes")
    assert skill.read_bytes() == text
    assert (skill.parent / "scripts" / "run.sh").is_file()
    assert not kept.exists()
    assert run("skills", "restore", "notes").code != 0  # it is there


def test_of_several_the_one_that_was_deleted_last_comes_back(run: Runner, skill: Path) -> None:
    for text in ("First words.", "Second words."):
        run.ok("skills", "edit", "notes", "--description", text)
        run.ok("skills", "delete", "notes")
        run.ok("skills", "new", "notes", "--description", "Another one.")
    run.ok("skills", "new", "notes-more", "--description", "Something else.")
    run.ok("skills", "delete", "notes-more")
    run.ok("skills", "delete", "notes")
    run.ok("skills", "restore", "notes")
    assert "Another one." in skill.read_text(encoding="utf-8")
    assert run("skills", "restore", "unknown").code != 0


def test_built_in_skills_and_links_stay(run: Runner, skill: Path) -> None:
    done = run("skills", "delete", "write-a-skill")
    assert done.code == 1
    assert "comes with the program" in done.err
    (skill.parents[1] / "link").symlink_to(skill.parent)
    assert run("skills", "delete", "link").code != 0
    assert skill.is_file()
    skills = Cortex.open(skill.parents[3]).skills.all
    kept = skills.delete(skills.read("notes", "project"))
    assert (kept / "SKILL.md").is_file()
    assert skills.restore("project", "notes").path == skill
