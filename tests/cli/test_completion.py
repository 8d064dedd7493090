"""The shell completes commands, options and ids, through click's own scripts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Runner


def complete(env: dict[str, str], words: str, name: str = "engramdown") -> list[str]:
    """Return what bash would offer for the last of ``words``."""
    count = len(words.split(" ")) - 1
    done = subprocess.run(
        [name],
        env={
            **env,
            f"_{name.upper()}_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(count),
        },
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    return [row.partition(",")[2] for row in done.stdout.split("\n") if row]


@pytest.mark.parametrize("name", ["engramdown", "egd"])
def test_commands_are_completed(name: str, child_env: dict[str, str]) -> None:
    assert complete(child_env, f"{name} re", name) == ["remember", "recall", "review", "restore"]


def test_options_are_completed(child_env: dict[str, str]) -> None:
    assert complete(child_env, "engramdown list --ol") == ["--older"]
    assert complete(child_env, "engramdown list --kind ") == [
        "always",
        "never",
        "when",
        "lesson",
        "profile",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["show", "edit", "forget", "why"])
def test_ids_are_completed(
    command: str, child_env: dict[str, str], run: Runner, memory: Path
) -> None:
    assert memory.is_dir()
    entry_id = run.remember("Never push to main")
    assert complete(child_env, f"engramdown {command} {entry_id[:2]}") == [entry_id]


def test_ids_are_completed_in_another_project(
    child_env: dict[str, str], run: Runner, memory: Path, tmp_path: Path
) -> None:
    entry_id = run.remember("Never push to main")
    project = memory.parent.parent
    env = {**child_env, "PWD": str(tmp_path)}
    assert complete(env, f"engramdown -C {project} show {entry_id[:2]}") == [entry_id]


def test_proposals_are_completed(child_env: dict[str, str], run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    done = run.ok("--mode", "copilot", "remember", "--source", "llm", "--json", "CI is slow")
    waiting = done.json["id"]
    assert complete(child_env, f"engramdown review --accept {waiting[:2]}") == [waiting]


def test_without_memory_nothing_is_offered_and_nothing_said(child_env: dict[str, str]) -> None:
    assert complete(child_env, "engramdown show ") == []


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("name", ["engramdown", "egd"])
def test_there_is_a_script_for_each_shell(shell: str, name: str, child_env: dict[str, str]) -> None:
    env = {**child_env, f"_{name.upper()}_COMPLETE": f"{shell}_source"}
    done = subprocess.run([name], env=env, capture_output=True, check=True, encoding="utf-8")
    assert f"_{name.upper()}_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, check=True, encoding="utf-8")


@pytest.mark.slow
def test_what_fish_says_of_a_word_is_not_cut_at_a_comma(
    child_env: dict[str, str], run: Runner, memory: Path
) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    text = "Use uv, never pip, in CI\nand elsewhere"
    entry = run.remember("--lesson", text)
    env = {**child_env, "_ENGRAMDOWN_COMPLETE": "fish_source"}
    script = memory / "complete.fish"
    source = subprocess.run(["engramdown"], env=env, capture_output=True, check=True)
    script.write_bytes(source.stdout)
    project = memory.parents[1]

    def offered(words: str) -> list[str]:
        code = f"source {script}; complete --do-complete '{words}'"
        fish = ["fish", "--no-config", "-c", code]
        return subprocess.run(
            fish, cwd=project, env=child_env, capture_output=True, check=True, encoding="utf-8"
        ).stdout.split("\n")

    assert f"{entry}\tUse uv, never pip, in CI and elsewhere" in offered("engramdown show ")
    assert "init\tSet up memory for a project, and for all projects." in offered("engramdown ini")
