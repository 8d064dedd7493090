"""``engramdown doctor --staged`` looks at the index of a real repository, also from its hooks."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.cli.conftest import Runner
from tests.git.conftest import untold
from tests.git.desk import Desk

__all__ = ["untold"]

LESSONS: Final = ".engramdown/memory/lessons.md"
SECRET: Final = "- The key is ghp_0123456789abcdefghijABCDEFGHIJ456789\n"
GOOD: Final = "- CI takes nine minutes <!-- id:k3v9q2ht source:llm ts:2026-02-27 -->\n"


@pytest.fixture
def desk(memory: Path) -> Desk:
    """Keep the project in git, with one commit."""
    desk = Desk(memory.parent.parent)
    desk.commit("Begin")
    return desk


def stage(desk: Desk, name: str, text: str) -> None:
    desk.write(name, text)
    desk.git("add", "--force", name)


def codes(run: Runner) -> dict[str, int]:
    done = run("doctor", "--staged", "--json")
    assert done.code == (0 if done.json["healthy"] else 1)
    return {each["code"]: each["line"] for each in done.json["findings"]}


def test_what_is_well_passes(run: Runner, desk: Desk) -> None:
    assert run.ok("doctor", "--staged").out == "No memory is staged.\n"
    stage(desk, "src/main.py", SECRET)
    assert run.ok("doctor", "--staged").out == "No memory is staged.\n"
    stage(desk, LESSONS, GOOD)
    assert run.ok("doctor", "--staged").out == "Nothing is wrong in 1 staged file.\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text, code, line",
    [
        pytest.param(GOOD + SECRET, "secret", 2, id="secret"),
        pytest.param("<<<<<<< a\n- x\n=======\n- y\n>>>>>>> b\n", "conflict", 1, id="conflict"),
        pytest.param("- a <!-- id:k3v9q2ht ts:soon -->\n", "metadata-value", 1, id="metadata"),
        pytest.param("- a <!-- id: k3v9q2ht source:llm\n", "unclosed-comment", 1, id="open"),
        pytest.param("- a <!-- id: k3v9q2ht -->\n", "near-metadata", 1, id="nearly"),
        pytest.param("- a <!-- id:a/b source:llm -->\n", "metadata-value", 1, id="forged-id"),
        pytest.param(GOOD + GOOD.replace("nine", "ten"), "id-twice", 2, id="same-id"),
        pytest.param("- pay\u200bment\n", "hidden-character", 1, id="hidden"),
        pytest.param("- a\u2028b\n", "foreign-line-end", 1, id="line-end"),
    ],
)
def test_what_is_wrong_stops_a_commit(
    run: Runner, desk: Desk, text: str, code: str, line: int
) -> None:
    stage(desk, LESSONS, text)
    desk.write(LESSONS, GOOD)
    assert codes(run)[code] == line
    done = run("doctor", "--staged")
    assert (done.code, f"{LESSONS}:{line}: {code}: " in done.out) == (1, True)
    assert "What to do\n" in done.out
    assert "ghp_0123" not in done.out


def test_what_is_in_the_work_tree_alone_is_nothing_to_it(run: Runner, desk: Desk) -> None:
    stage(desk, LESSONS, GOOD)
    desk.write(LESSONS, SECRET)
    assert codes(run) == {}


def test_what_is_wrong_in_files_that_are_not_staged_stops_nothing(run: Runner, desk: Desk) -> None:
    stage(desk, LESSONS, SECRET)
    desk.git("commit", "--quiet", "-m", "Too late")
    stage(desk, ".engramdown/memory/rules.md", "- a <!-- id:9c2hq7xk -->\n")
    assert codes(run) == {}
    # But an id that stands in both is told: one of them is new.
    stage(desk, LESSONS, GOOD)
    desk.git("commit", "--quiet", "-m", "Ids")
    stage(desk, ".engramdown/memory/rules.md", GOOD.replace("nine", "ten"))
    assert codes(run) == {"id-twice": 1}


def test_what_may_be_meant_is_told_and_passes(run: Runner, desk: Desk) -> None:
    stage(desk, LESSONS, "words\n\n  - indented\n")
    done = run.ok("doctor", "--staged")
    assert "indented-item" in done.out
    assert done.out.endswith("1 warning in staged files.\n")


@pytest.mark.parametrize(
    "name", ["episodes/s1.jsonl", "history.jsonl", "cache/index.sqlite", "memory/.lock"]
)
def test_what_is_not_for_git_is_told(run: Runner, desk: Desk, name: str) -> None:
    stage(desk, f".engramdown/{name}", "x\n")
    done = run("doctor", "--staged")
    assert done.code == 1
    assert f".engramdown/{name}: not-for-git: " in done.out
    assert "git rm --cached" in done.out


def test_links_and_huge_files_are_told(run: Runner, desk: Desk) -> None:
    (desk.top / LESSONS).unlink()
    (desk.top / LESSONS).symlink_to("/etc/passwd")
    desk.write(".engramdown/config.toml", "max_file_mb = 0.01\n")
    desk.write(".engramdown/memory/rules.md", "- a\n" * 3_000)
    desk.git("add", ".")
    assert set(codes(run)) == {"link", "too-large"}
    desk.write(".engramdown/config.toml", "max_file_mb = 'wrong'\n")
    assert set(codes(run)) == {"link"}


def test_every_scope_of_a_repository_is_looked_at(
    run: Runner, desk: Desk, isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(desk, "packages/a/.engramdown/memory/topics/ci.md", SECRET)
    stage(desk, "mine/memory/profile.md", SECRET)
    done = run("doctor", "--staged", "--json").json
    assert [each["file"] for each in done["findings"]] == [
        "packages/a/.engramdown/memory/topics/ci.md"
    ]
    monkeypatch.setenv("ENGRAMDOWN_HOME", str(desk.top / "mine"))
    assert "mine/memory/profile.md:1: secret" in run("doctor", "--staged").out
    monkeypatch.setenv("ENGRAMDOWN_HOME", str(isolated_home))


@pytest.mark.parametrize("name", [".engramdown", "dotfiles"])
def test_a_scope_may_be_a_repository_of_its_own(
    run: Runner, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = Desk(tmp_path / "inner" / name)
    if name == "dotfiles":
        monkeypatch.setenv("ENGRAMDOWN_HOME", str(inner.top))
    stage(inner, "memory/lessons.md", SECRET)
    monkeypatch.chdir(inner.top)
    assert "memory/lessons.md:1: secret" in run("doctor", "--staged").out


def test_before_the_first_commit_it_works_too(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = Desk(tmp_path / "new")
    stage(new, LESSONS, SECRET)
    monkeypatch.chdir(new.top)
    assert codes(run) == {"secret": 1}


def test_it_only_looks(run: Runner, desk: Desk) -> None:
    stage(desk, LESSONS, SECRET)
    before = (desk.top / ".git" / "index").read_bytes()
    run("doctor", "--staged")
    assert (desk.top / ".git" / "index").read_bytes() == before
    assert run("doctor", "--staged", "--fix").code == 2
    assert run("doctor", "--staged", "--dry-run").code == 2


def test_outside_of_a_repository_it_says_so(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    done = run("doctor", "--staged")
    assert (done.code, "in no git repository" in done.err) == (1, True)


# ---- from a hook ----


@pytest.fixture
def hooked(desk: Desk, child_env: dict[str, str]) -> dict[str, str]:
    """Let git ask before each commit, and return the environment for it."""
    hook = desk.write(".git/hooks/pre-commit", "#!/bin/sh\nexec engramdown doctor --staged\n")
    hook.chmod(0o755)
    return {**child_env, **{key: desk.env[key] for key in ("GIT_CONFIG_NOSYSTEM",)}}


def commit(folder: Path, env: dict[str, str], *args: str) -> tuple[int, str]:
    done = subprocess.run(
        ["git", "commit", "--quiet", "-m", "Try", *args],
        cwd=folder,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_a_commit_of_all_is_looked_at(desk: Desk, hooked: dict[str, str]) -> None:
    desk.write(LESSONS, SECRET)
    code, said = commit(desk.top, hooked, "--all")
    assert (code, f"{LESSONS}:1: secret" in said) == (1, True)
    desk.write(LESSONS, GOOD)
    assert commit(desk.top, hooked, "--all")[0] == 0


@pytest.mark.slow
def test_a_commit_of_one_file_is_looked_at_as_it_will_be(
    desk: Desk, hooked: dict[str, str]
) -> None:
    desk.write(".engramdown/memory/rules.md", SECRET)
    desk.git("add", ".")
    desk.write(LESSONS, GOOD)
    # What is staged beside it is not part of this commit.
    assert commit(desk.top / ".engramdown", hooked, "--only", "memory/lessons.md")[0] == 0
    desk.write(LESSONS, SECRET)
    desk.git("reset", "--quiet")
    code, said = commit(desk.top, hooked, "--only", LESSONS)
    assert (code, f"{LESSONS}:1: secret" in said) == (1, True)


@pytest.mark.slow
def test_a_commit_in_another_work_tree_is_looked_at(
    desk: Desk, hooked: dict[str, str], tmp_path: Path
) -> None:
    desk.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "second"))
    second = Desk(tmp_path / "second", init=False)
    second.write(LESSONS, SECRET)
    second.git("add", ".")
    code, said = commit(second.top, hooked)
    assert (code, f"{LESSONS}:1: secret" in said) == (1, True)
    second.write(LESSONS, GOOD)
    second.git("add", ".")
    assert commit(second.top, hooked)[0] == 0
