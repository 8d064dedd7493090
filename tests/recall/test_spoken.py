"""What was said is known by the digests of its texts, and known anew when a file changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.recall.vectors import LONGEST, Spoken, digest_of, shown_to_model
from engramdown.storage.disk import Disk
from tests.episodes.transcripts import append, line, write


class Reads(Disk):
    """Counts the files that are read whole."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.read_whole: list[str] = []

    def load(self, path: Path) -> bytes | None:
        """Read a file."""
        self.read_whole.append(path.stem)
        return super().load(path)


def said(spoken: Spoken) -> list[tuple[str, int, bool]]:
    return [(each.session, each.seq, each.hidden) for each in spoken.all(lambda: None)]


def test_people_and_assistants_speak_and_nobody_else(tmp_path: Path) -> None:
    path = write(tmp_path, "lake", ["one", "two", "  "])
    append(path, line(4, "four", role="tool_result") + line(5, "five", role="scratchpad"))
    append(path, b"not json\n" + line(6, "six") + b'{"seq":7')
    assert said(Spoken(tmp_path / "episodes", Disk())) == [
        ("lake", 1, False),
        ("lake", 2, False),
        ("lake", 6, False),
    ]


def test_a_line_is_read_again_by_its_place(tmp_path: Path) -> None:
    write(tmp_path, "lake", ["one", "naïve 😀", "three"])
    spoken = Spoken(tmp_path / "episodes", Disk())
    found = [spoken.episode(each) for each in spoken.all(lambda: None)]
    assert [each.text for each in found if each] == ["one", "naïve 😀", "three"]


def test_a_line_that_is_another_by_now_is_none(tmp_path: Path) -> None:
    path = write(tmp_path, "lake", ["one"])
    spoken = Spoken(tmp_path / "episodes", Disk())
    (utterance,) = spoken.all(lambda: None)
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))
    assert spoken.episode(utterance) is None
    path.unlink()
    assert spoken.episode(utterance) is None


def test_only_files_that_changed_are_read_again(tmp_path: Path) -> None:
    disk = Reads()
    spoken = Spoken(tmp_path / "episodes", disk)
    assert said(spoken) == []
    lake = write(tmp_path, "lake", ["one"])
    write(tmp_path, "sea", ["one"])
    assert len(said(spoken)) == len(said(spoken)) == 2
    append(lake, line(2, "two"))
    assert len(said(spoken)) == 3
    assert disk.read_whole == ["lake", "sea", "lake"]
    lake.unlink()
    assert said(spoken) == [("sea", 1, False)]


def test_what_was_excluded_is_hidden(tmp_path: Path) -> None:
    path = write(tmp_path, "lake", ["one", "two"])
    append(path, line(3, "", role="event", event="exclude", of=[2]))
    spoken = Spoken(tmp_path / "episodes", Disk())
    assert said(spoken) == [("lake", 1, False), ("lake", 2, True)]
    append(path, line(4, "", role="event", event="exclude"))
    assert all(hidden for _, _, hidden in said(spoken))


def test_a_look_can_be_stopped(tmp_path: Path) -> None:
    write(tmp_path, "lake", ["one"])

    def stop() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Spoken(tmp_path / "episodes", Disk()).all(stop)


def test_a_model_is_shown_a_page_in_characters_that_can_be_sent() -> None:
    assert shown_to_model("x" * 3_000) == "x" * LONGEST
    assert shown_to_model("a\ud800b") == "a?b"
    assert digest_of("x" * 3_000) == digest_of("x" * LONGEST)
    assert digest_of("a") != digest_of("b")
