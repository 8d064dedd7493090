"""A folder of transcripts to import into."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """Return an empty folder of transcripts, and one of files to import."""
    return Shop(tmp_path)
