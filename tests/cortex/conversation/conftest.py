"""A project in which somebody talks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engramdown import Cortex

Opening = Callable[..., Cortex]


@pytest.fixture
def opened(tmp_path: Path) -> Opening:
    """Return what opens a cortex on one project, as often as it is called."""
    (tmp_path / "project" / ".engramdown").mkdir(parents=True)

    def opening(model: object = None, config: str = "", at_home: str = "") -> Cortex:
        for folder, text in (("project/.engramdown", config), ("home", at_home)):
            if text:
                (tmp_path / folder).mkdir(exist_ok=True)
                (tmp_path / folder / "config.toml").write_text(text, encoding="utf-8")
        return Cortex.open(project=tmp_path / "project", home=tmp_path / "home", model=model)

    return opening
