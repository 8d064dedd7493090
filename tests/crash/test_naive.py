"""The experiments show what the naive ways lose, and that ours loses nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.naive import EXPERIMENTS, WAYS


@pytest.mark.parametrize("experiment", ["kills", "power cuts", "full disk", "old buffers"])
def test_the_first_way_that_comes_to_mind_loses_memories_and_ours_none(
    experiment: str, tmp_path: Path
) -> None:
    found = {}
    for title in ("read, append, write", "engramdown"):
        folder = tmp_path / title
        folder.mkdir()
        found[title] = EXPERIMENTS[experiment](WAYS[title], folder, random.Random(1))
    assert found["read, append, write"][0] > 0
    assert found["engramdown"][0] == 0
    assert found["engramdown"][1] > 0
