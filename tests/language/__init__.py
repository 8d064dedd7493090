"""Tests of engramdown/language; larger tables of cases are in files beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def table(file: str) -> list[Any]:
    """Return the cases in a file of lines with tabs: the id of a case, and its arguments."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.rstrip("\n").split("\n")]
    return [pytest.param(*arguments, id=name) for name, *arguments in rows]
