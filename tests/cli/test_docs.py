"""docs/cli.md has the help of every command as it is, and names what a user may rely on."""

from __future__ import annotations

import re
import tomllib
from typing import Final

import pytest

from engramdown.cli import output
from engramdown.cli.main import COMMANDS
from engramdown.settings import (
    SETTINGS,
    ConsolidationSettings,
    ConversationSettings,
    EpisodeSettings,
    Settings,
    WorkerSettings,
)
from tests.cli.paste_help import PAGE, pasted
from tests.tables import every

TEXT: Final = PAGE.read_text(encoding="utf-8")


def test_the_help_on_the_page_is_the_help_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is old, run ``python -m tests.cli.paste_help``."""
    monkeypatch.setenv("COLUMNS", "80")
    assert pasted(TEXT) == TEXT


@every("name", [name for rows in COMMANDS.values() for name in rows])
def test_every_command_has_its_section_and_its_help(name: str) -> None:
    assert f"\n## {name}\n" in TEXT
    assert f"\n$ engramdown {name} --help\nUsage: engramdown {name} " in TEXT


def test_every_exit_code_is_explained() -> None:
    explained = {int(code) for code in re.findall(r"(?m)^\| (\d+) \|", TEXT)}
    assert explained == {
        output.DONE,
        output.REFUSED,
        output.USAGE,
        output.STORE_FAILED,
        output.STOPPED,
        output.PIPE_CLOSED,
    }


@every("key", [key for key in SETTINGS if "." not in key])
def test_every_setting_is_explained_with_its_default(key: str) -> None:
    assert explained(key, TEXT) == getattr(Settings(), key)


@every("key", EpisodeSettings._fields)
def test_every_setting_of_transcripts_is_explained_with_its_default(key: str) -> None:
    table = TEXT.partition("\n[episodes]")[2].partition("```")[0]
    default = getattr(EpisodeSettings(), key)
    assert explained(key, table) == (list(default) if isinstance(default, tuple) else default)


@every("key", ConsolidationSettings._fields)
def test_every_setting_of_offline_work_is_explained_with_its_default(key: str) -> None:
    table = TEXT.partition("\n[consolidation]")[2].partition("```")[0]
    assert explained(key, table) == getattr(ConsolidationSettings(), key)


@every("key", ConversationSettings._fields)
def test_every_setting_of_conversations_is_explained_with_its_default(key: str) -> None:
    table = TEXT.partition("\n[conversation]")[2].partition("\n[")[0]
    assert explained(key, table) == getattr(ConversationSettings(), key)


@every("key", WorkerSettings._fields)
def test_every_setting_of_the_worker_is_explained_with_its_default(key: str) -> None:
    table = TEXT.partition("\n[worker]")[2].partition("```")[0]
    assert explained(key, table) == getattr(WorkerSettings(), key)


def explained(key: str, text: str) -> object:
    """Return the value of ``key`` in lines of TOML."""
    found = re.search(rf"(?m)^{key} = \S+", text)
    assert found
    return tomllib.loads(found[0])[key]
