"""docs/cli.md has the help of every command as it is, and names what a user may rely on."""

from __future__ import annotations

import re
from typing import Final

import pytest

from engramdown.cli import codes, messages
from engramdown.settings import Settings
from tests.cli.paste_help import PAGE, pasted

TEXT: Final = PAGE.read_text(encoding="utf-8")


def test_the_help_on_the_page_is_the_help_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is old, run ``python -m tests.cli.paste_help``."""
    monkeypatch.setenv("COLUMNS", "80")
    assert pasted(TEXT) == TEXT


@pytest.mark.parametrize("name", messages.SHORT_HELP)
def test_every_command_has_its_section_and_its_help(name: str) -> None:
    assert f"\n## {name}\n" in TEXT
    assert f"\n$ engramdown {name} --help\nUsage: engramdown {name} " in TEXT


def test_every_exit_code_is_explained() -> None:
    explained = {int(code) for code in re.findall(r"(?m)^\| (\d+) \|", TEXT)}
    assert explained == {
        codes.DONE,
        codes.REFUSED,
        codes.USAGE,
        codes.STORE_FAILED,
        codes.STOPPED,
        codes.PIPE_CLOSED,
    }


@pytest.mark.parametrize("key", [field for field in Settings.__slots__ if field != "budgets"])
def test_every_setting_is_explained_with_its_default(key: str) -> None:
    found = re.search(rf"(?m)^{key} = (\S+)", TEXT)
    assert found
    value = getattr(Settings(), key)
    assert found[1] == (f'"{value}"' if isinstance(value, str) else str(value))
