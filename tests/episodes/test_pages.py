"""A page that a person wrote about a session is never written again, and wins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engramdown.episodes.card import CardFiles, as_page
from engramdown.episodes.memory import EpisodicMemory
from engramdown.storage.disk import Disk


@pytest.fixture
def memory(tmp_path: Path) -> EpisodicMemory:
    made = EpisodicMemory(tmp_path)
    made.log("s", "user", "Why is CI red?")
    made.log("s", "assistant", "The clock.")
    return made


@pytest.fixture
def files(tmp_path: Path) -> CardFiles:
    return CardFiles(tmp_path, Disk())


def test_looking_at_a_card_makes_no_file(memory: EpisodicMemory, files: CardFiles) -> None:
    card = memory.card("s")
    assert (card.title, card.edited, card.stale) == ("Why is CI red?", False, False)
    assert not files.folder.exists()


def test_a_page_wins_and_is_private(memory: EpisodicMemory, files: CardFiles) -> None:
    assert files.create("s", "---\ntitle: Mending CI\n---\n")
    card = memory.card("s")
    assert (card.title, card.edited) == ("Mending CI", True)
    assert card.participants == ("user", "assistant")
    assert files.path("s").stat().st_mode & 0o777 == 0o600


def test_a_page_is_never_written_again(memory: EpisodicMemory, files: CardFiles) -> None:
    page = as_page(memory.card("s"))
    assert files.create("s", "mine")
    assert not files.create("s", page)
    assert files.path("s").read_text(encoding="utf-8") == "mine"
    assert [path.name for path in files.folder.iterdir()] == ["s.card.md"]


def test_a_page_older_than_a_redaction_is_left_out_until_it_is_saved_again(
    memory: EpisodicMemory, files: CardFiles
) -> None:
    files.create("s", "---\ntitle: CI and hunter2\n---\n")
    os.utime(files.path("s"), (1, 1))
    memory.forgetting().redact("s", [1])
    card = memory.card("s")
    assert (card.title, card.edited, card.stale) == ("The clock.", False, True)
    os.utime(files.path("s"))
    assert memory.card("s").title == "CI and hunter2"


def test_a_page_that_is_no_utf8_is_read(memory: EpisodicMemory, files: CardFiles) -> None:
    files.create("s", "")
    files.path("s").write_bytes(b"---\ntitle: caf\xe9\n---\n")
    assert memory.card("s").title == "caf\ufffd"
