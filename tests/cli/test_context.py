"""``context`` prints what a model sees, byte for byte, and explains it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from engramdown import Cortex
from tests.cli.conftest import Runner


@pytest.mark.slow
def test_the_bytes_are_those_of_the_library(
    run: Runner, memory: Path, child_env: dict[str, str]
) -> None:
    run.remember("Never push to main")
    run.remember("Say «hé»")
    done = subprocess.run(
        ["engramdown", "context", "how", "do", "I", "push?"],
        env=child_env,
        check=True,
        capture_output=True,
    )
    wanted = Cortex.open(memory.parent).build_memory_context("how do I push?")
    assert done.stdout.decode() == f"{wanted}\n".replace("\n\n\n", "\n\n")[: len(done.stdout)]
    assert done.stdout.decode().rstrip("\n") == wanted.rstrip("\n")


def test_a_message_can_come_from_stdin(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    run.remember("Never push to main")
    assert "Never push to main" in run.ok("context", "-", stdin=b"push?\n").out


def test_empty_memory_is_no_error(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    done = run.ok("context")
    assert done.out.strip() == ""


def test_each_section_is_explained(run: Runner, memory: Path) -> None:
    assert memory.is_dir()
    run.remember("Never push to main")
    done = run.ok("context", "--explain")
    rows = done.out.split("\n")
    assert rows[0].split("  ") == ["tokens", "budget", "shown", "left out", "section"]
    assert rows[1].split()[1:5] == ["1500", "1", "0", "Project"]


def test_what_was_left_out_is_named(run: Runner, memory: Path) -> None:
    config = "[budgets]\nproject_lessons = 60\n"
    (memory.parent / "config.toml").write_text(config, encoding="utf-8")
    for number in range(9):
        run.remember(f"Lesson {number} is a lesson about the number {number}, not a rule")
    done = run.ok("context", "--explain")
    assert "Left out of Project Lessons" in done.out
    sections = run.ok("context", "--json").json["sections"]
    (section,) = sections
    assert len(section["shown"]) + len(section["left_out"]) == 9
    assert section["left_out"]
    assert section["tokens"] <= section["budget"] == 60


def test_json_holds_the_text_and_its_tokens(run: Runner, memory: Path) -> None:
    run.remember("Never push to main")
    found = run.ok("context", "--json").json
    assert found["text"] == Cortex.open(memory.parent).build_memory_context()
    assert found["tokens"] > 0
