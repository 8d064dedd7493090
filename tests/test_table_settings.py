"""`engramdown.settings`: the tables ``[consolidation]`` and ``[worker]``, and who may set them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from engramdown.errors import SettingsError
from engramdown.settings import ConsolidationSettings, Settings, WorkerSettings, load

LIMITS: Final = (
    "timeout",
    "retries",
    "max_tokens",
    "calls_per_run",
    "tokens_per_run",
    "calls_per_window",
    "tokens_per_window",
)


@pytest.fixture
def scopes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Make the folders of a global scope and of a project; the environment says nothing."""
    monkeypatch.delenv("ENGRAMDOWN_AT_SESSION_END", raising=False)
    home, project = tmp_path / "home", tmp_path / "work" / ".engramdown"
    home.mkdir()
    project.mkdir(parents=True)
    return home, project


def configure(folder: Path, said: str, table: str = "consolidation") -> None:
    (folder / "config.toml").write_text(f"[{table}]\n{said}\n", encoding="utf-8")


def test_without_a_word_no_model_is_asked(scopes: tuple[Path, Path]) -> None:
    assert load(*scopes).consolidation == ConsolidationSettings()
    assert Settings().consolidation.model == ""
    assert Settings().consolidation.threshold == 20


def test_the_global_scope_says_what_is_asked_and_where(scopes: tuple[Path, Path]) -> None:
    said = 'model = "ollama/qwen3"\nbase_url = "http://localhost:1234/v1"\nwindow_hours = 1.5'
    configure(scopes[0], said)
    found = load(*scopes).consolidation
    assert (found.model, found.base_url, found.window_hours) == (
        "ollama/qwen3",
        "http://localhost:1234/v1",
        1.5,
    )


def test_the_global_scope_says_what_the_worker_does(scopes: tuple[Path, Path]) -> None:
    assert Settings().worker == WorkerSettings(300, 60, 5, 10, 5, 30, 5)
    configure(scopes[0], "every = 60\npause = 0\nbatch = 0\nidle_minutes = 1.5", "worker")
    found = load(*scopes).worker
    assert (found.every, found.pause, found.batch, found.idle_minutes) == (60, 0, 0, 1.5)
    assert found.attempts == 5


@pytest.mark.parametrize(
    "key, value",
    [
        ("consolidation.model", '"openai/x"'),
        ("consolidation.base_url", '"http://a/v1"'),
        ("consolidation.window_hours", "1"),
        *((f"worker.{key}", "1") for key in WorkerSettings._fields),
    ],
)
def test_a_project_says_nothing_of_where_memory_is_sent_and_of_the_worker(
    key: str, value: str, scopes: tuple[Path, Path]
) -> None:
    table, _, name = key.partition(".")
    configure(scopes[1], f"{name} = {value}", table)
    with pytest.raises(SettingsError, match="may only be in") as error:
        load(*scopes)
    assert error.value.key == key


@pytest.mark.parametrize("key", LIMITS)
def test_a_project_may_lower_a_limit_and_never_raise_it(
    key: str, scopes: tuple[Path, Path]
) -> None:
    usual = getattr(ConsolidationSettings(), key)
    for mine, theirs, holds in ((5, 3, 3), (5, 9, 5), (None, 1, 1), (None, 999_999, usual)):
        configure(scopes[0], "" if mine is None else f"{key} = {mine}")
        configure(scopes[1], f"{key} = {theirs}")
        assert getattr(load(*scopes).consolidation, key) == min(holds, theirs)


def test_a_project_says_itself_from_when_on_it_is_compacted(scopes: tuple[Path, Path]) -> None:
    configure(scopes[0], "threshold = 10")
    configure(scopes[1], "threshold = 50")
    assert load(*scopes).consolidation.threshold == 50
    assert load(scopes[0], None).consolidation.threshold == 10


@pytest.mark.parametrize(
    "said, key, allowed",
    [
        ('model = "gpt"', "model", "PROVIDER/MODEL"),
        ('model = "/x"', "model", "PROVIDER/MODEL"),
        ('model = "openai/ "', "model", "PROVIDER/MODEL"),
        ("model = 5", "model", "PROVIDER/MODEL"),
        ('base_url = "ftp://a/b"', "base_url", "http://localhost"),
        ('base_url = "localhost"', "base_url", "http://localhost"),
        ("base_url = 5", "base_url", "http://localhost"),
        ("timeout = 0", "timeout", "above 0"),
        ("retries = -1", "retries", "0 to"),
        ("calls_per_run = 1.5", "calls_per_run", "whole number"),
        ("tokens_per_window = -1", "tokens_per_window", "0 or more"),
        ("window_hours = -1", "window_hours", "0 to"),
        ("limit = 1", "limit", "calls_per_run"),
        ("every = 0", "worker.every", "above 0"),
        ("every = -1", "worker.every", "above 0"),
        ("timeout = 0", "worker.timeout", "above 0"),
        ("pause = -1", "worker.pause", "0 to"),
        ("batch = -1", "worker.batch", "whole number"),
        ("batch = 1.5", "worker.batch", "whole number"),
        ("attempts = true", "worker.attempts", "whole number"),
        ("idle_minutes = -1", "worker.idle_minutes", "0 to"),
        ("idle_messages = -1", "worker.idle_messages", "whole number"),
        ("interval = 5", "worker.interval", "every, timeout, pause"),
    ],
)
def test_a_wrong_value_says_what_is_allowed(
    said: str, key: str, allowed: str, scopes: tuple[Path, Path]
) -> None:
    key = key if "." in key else f"consolidation.{key}"
    configure(scopes[0], said, key.partition(".")[0])
    with pytest.raises(SettingsError) as error:
        load(*scopes)
    assert error.value.key == key
    assert allowed in str(error.value)


def test_an_address_that_is_wrong_is_not_repeated(scopes: tuple[Path, Path]) -> None:
    configure(scopes[0], 'base_url = "ann:secret-word@host"')
    with pytest.raises(SettingsError) as error:
        load(*scopes)
    assert "secret-word" not in str(error.value)


@pytest.mark.parametrize("both, holds", [(("true", "false"), False), (("false", "true"), False)])
def test_a_project_can_switch_learning_from_errors_off_only(
    both: tuple[str, str], scopes: tuple[Path, Path], *, holds: bool
) -> None:
    assert load(*scopes).consolidation.learn_from_errors
    for folder, value in zip(scopes, both, strict=True):
        configure(folder, f"learn_from_errors = {value}")
    assert load(*scopes).consolidation.learn_from_errors is holds


@pytest.mark.parametrize(
    "home, project, holds",
    [("", "", False), ("true", "", True), ("", "true", False), ("true", "false", False)],
)
def test_a_project_can_only_switch_the_search_for_facts_off(
    home: str, project: str, scopes: tuple[Path, Path], *, holds: bool
) -> None:
    for folder, value in zip(scopes, (home, project), strict=True):
        configure(folder, f"extract_facts = {value}" if value else "")
    assert load(*scopes).consolidation.extract_facts is holds
