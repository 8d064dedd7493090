"""What was called otherwise in 0.1 works for one release, and warns."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from engramdown import Cortex, lazy
from engramdown.cortex.cortex import OLD_NAMES

MOVED = lazy.texts(lazy.__file__)


@pytest.mark.slow
@pytest.mark.parametrize("old", MOVED)
def test_an_old_module_is_the_new_one(old: str) -> None:
    sys.modules.pop(f"engramdown.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"engramdown.{old} is now engramdown."):
        found = importlib.import_module(f"engramdown.{old}")
    assert found is importlib.import_module(f"engramdown.{MOVED[old]}")


@pytest.mark.parametrize("name", ["engramdown.adapters.nothing", "engramdown.amygdala"])
def test_what_was_never_there_is_missing(name: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_of_a_cortex_is_the_new_one(old: str, tmp_path: Path) -> None:
    cortex = Cortex.open(tmp_path, tmp_path / "home")
    found: object = cortex
    for part in OLD_NAMES[old].split("."):
        found = getattr(found, part)
    with pytest.warns(DeprecationWarning, match=rf"Cortex\.{old} is deprecated"):
        assert getattr(cortex, old) == found


def test_an_old_name_of_a_cortex_can_still_be_set(tmp_path: Path) -> None:
    cortex = Cortex.open(tmp_path, tmp_path / "home")
    with pytest.warns(DeprecationWarning, match=r"use Cortex\.scopes\.model"):
        setattr(cortex, "model", "openai/gpt-4.1-mini")  # noqa: B010 - mypy knows no such name
    assert cortex.scopes.model == "openai/gpt-4.1-mini"


def test_who_derives_from_a_cortex_is_begun_by_opening_it(tmp_path: Path) -> None:
    class Mine(Cortex):
        def __init__(self, *args: Any, **named: Any) -> None:  # noqa: ANN401 - a Cortex's own
            super().__init__(*args, **named)
            self.is_mine = True

    assert Mine.open(tmp_path, tmp_path / "home").is_mine
