"""What was read is counted, by many processes at once, and never in the way."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest
from freezegun import freeze_time
from hypothesis import given
from hypothesis import strategies as st

from engramdown.skills import store
from engramdown.skills.store import NAME, Usage, Used, midnight


@freeze_time("2026-03-01 10:15:00")
def test_what_is_read_is_counted_by_scope_and_label(tmp_path: Path) -> None:
    for scope, label in (("project", "charts"), ("global", "charts"), ("project", "charts")):
        assert Usage(tmp_path).add(scope, label)
    at = "2026-03-01T10:15:00.000000Z"
    assert Usage(tmp_path).counts() == {
        "project/charts": Used(2, at),
        "global/charts": Used(1, at),
    }


def test_where_nothing_can_be_written_nothing_is_counted(tmp_path: Path) -> None:
    assert not Usage(tmp_path / "none").add("project", "charts")
    assert not (tmp_path / "none").exists()
    assert Usage(tmp_path / "none").counts() == {}
    tmp_path.chmod(0o500)
    try:
        assert not Usage(tmp_path).add("project", "charts")
    finally:
        tmp_path.chmod(0o700)
    (tmp_path / NAME).mkdir()
    assert not Usage(tmp_path).add("project", "charts")
    assert Usage(tmp_path).counts() == {}


def test_a_long_file_is_folded_and_counts_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_LARGEST", 500)
    monkeypatch.setattr(store, "_MOST", 3)
    for number in range(40):
        assert Usage(tmp_path).add("project", f"skill-{number % 2}")
    assert {used.times for used in Usage(tmp_path).counts().values()} == {20}
    assert (tmp_path / NAME).stat().st_size < 1_000
    for number in range(40):
        assert Usage(tmp_path).add("project", f"other-{number}")
    assert len(Usage(tmp_path).counts()) < 15


def test_what_was_read_today_is_told_apart_also_in_a_folded_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_LARGEST", 0)
    with freeze_time("2026-03-01 23:59:59") as clock:
        for _ in range(3):
            assert Usage(tmp_path).add("project", "charts")
        clock.move_to("2026-03-02 00:00:00")
        for _ in range(2):
            assert Usage(tmp_path).add("project", "charts")
        assert Usage(tmp_path).counts()["project/charts"].times == 5
        assert Usage(tmp_path).counts(midnight())["project/charts"].times == 3
        clock.move_to("2026-03-03 00:00:00")
        assert Usage(tmp_path).counts(midnight())["project/charts"].times == 5


def _count(root: Path) -> None:
    for _ in range(25):
        assert Usage(root).add("project", "charts")


@pytest.mark.slow
def test_processes_that_count_at_once_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_LARGEST", 1_000)
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
                        st.sampled_from(["skill", "count", "last"]), inner, max_size=3
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
    assert Usage(root).add("project", "charts")
    assert Usage(root).counts()["project/charts"].times == before + 1
