"""What was read is counted, by many processes at once, and never in the way."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from engramdown.storage import usage
from engramdown.storage.locks import ScopeLock
from engramdown.storage.usage import MEMORIES, Counter, Usage, Used, midnight

NAME = "skill-usage.jsonl"


@freeze_time("2026-03-01 10:15:00")
def test_what_is_read_is_counted_by_scope_and_label(tmp_path: Path) -> None:
    for scope, label in (("project", "charts"), ("global", "charts"), ("project", "charts")):
        assert Usage(tmp_path).add([f"{scope}/{label}"])
    at = "2026-03-01T10:15:00.000000Z"
    assert Usage(tmp_path).counts() == {
        "project/charts": Used(2, at),
        "global/charts": Used(1, at),
    }


def test_where_nothing_can_be_written_nothing_is_counted(tmp_path: Path) -> None:
    assert not Usage(tmp_path / "none").add(["project/charts"])
    assert not (tmp_path / "none").exists()
    assert Usage(tmp_path / "none").counts() == {}
    tmp_path.chmod(0o500)
    try:
        assert not Usage(tmp_path).add(["project/charts"])
    finally:
        tmp_path.chmod(0o700)
    (tmp_path / NAME).mkdir()
    assert not Usage(tmp_path).add(["project/charts"])
    assert Usage(tmp_path).counts() == {}


def test_a_long_file_is_folded_and_counts_the_same(tmp_path: Path) -> None:
    counted = Usage(tmp_path, Counter("skill-usage", 4, 1.0))
    for number in range(40):
        assert counted.add([f"project/skill-{number % 2}"])
    assert {used.times for used in counted.counts().values()} == {20}
    assert (tmp_path / NAME).stat().st_size < 1_000
    for number in range(40):
        assert counted.add([f"project/other-{number}"])
    assert len(counted.counts()) < 15


def test_counts_of_older_files_go_on(tmp_path: Path) -> None:
    line = '{"skill":"project/charts","count":3,"last":"2026-01-01T00:00:00.000000Z"}\n'
    (tmp_path / NAME).write_text(line, encoding="utf-8")
    assert Usage(tmp_path).add(["project/charts"])
    assert Usage(tmp_path).counts()["project/charts"].times == 4


def test_what_is_dropped_is_in_no_byte_of_the_file(tmp_path: Path) -> None:
    counted = Usage(tmp_path, MEMORIES)
    assert counted.drop({"shown/a1"})
    assert [*tmp_path.iterdir()] == []
    assert counted.add(["shown/a1", "shown/b2", "recalled/a1"])
    assert counted.drop({"shown/a1", "recalled/a1"})
    assert {name: used.times for name, used in counted.counts().items()} == {"shown/b2": 1}
    assert "a1" not in (tmp_path / "memory-usage.jsonl").read_text(encoding="utf-8")


def test_nobody_waits_long_for_another_process(tmp_path: Path) -> None:
    counted = Usage(tmp_path, MEMORIES)
    with ScopeLock(tmp_path / "memory-usage.lock", 1).hold():
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        other = context.Process(target=lambda: answers.put(counted.add(["shown/a1"])))
        other.start()
        assert answers.get(timeout=20) is False
        other.join()
    assert counted.counts() == {}
    assert counted.add(["shown/a1"])


def test_what_was_read_today_is_told_apart_also_in_a_folded_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "_ROOM", 0)
    with freeze_time("2026-03-01 23:59:59") as clock:
        for _ in range(3):
            assert Usage(tmp_path).add(["project/charts"])
        clock.move_to("2026-03-02 00:00:00")
        for _ in range(2):
            assert Usage(tmp_path).add(["project/charts"])
        assert Usage(tmp_path).counts()["project/charts"].times == 5
        assert Usage(tmp_path).counts(midnight())["project/charts"].times == 3
        clock.move_to("2026-03-03 00:00:00")
        assert Usage(tmp_path).counts(midnight())["project/charts"].times == 5


def _count(root: Path) -> None:
    for _ in range(25):
        assert Usage(root).add(["project/charts"])


@pytest.mark.slow
def test_processes_that_count_at_once_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "_ROOM", 2)
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=_count, args=(tmp_path,)) for _ in range(3)]
    for process in running:
        process.start()
    _count(tmp_path)
    for process in running:
        process.join()
        assert process.exitcode == 0
    assert Usage(tmp_path).counts()["project/charts"].times == 100


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.builds(
                lambda value: json.dumps(value).encode(),
                st.recursive(
                    st.none() | st.integers() | st.text(max_size=3),
                    lambda inner: st.dictionaries(
                        st.sampled_from(["skill", "names", "count", "last"]), inner, max_size=3
                    ),
                    max_leaves=5,
                ),
            ),
        )
    )
)
def test_whatever_stands_in_the_file_is_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    root = tmp_path_factory.mktemp("usage")
    (root / NAME).write_bytes(b"\n".join(lines))
    before = Usage(root).counts().get("project/charts", Used()).times
    assert Usage(root).add(["project/charts"])
    assert Usage(root).counts()["project/charts"].times == before + 1
