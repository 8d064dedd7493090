"""The habits of this project, as rules that bite.

What ruff, mypy and import-linter can check stands in pyproject.toml. The rest is here, and each
rule is shown to catch what it is for.
"""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import click
import pytest

import engramdown
from tests import rules
from tests.tables import every

ROOT: Final = Path(__file__).resolve().parent.parent
MODULES: Final = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "engramdown").rglob("*.py"))
}
PROJECT: Final[dict[str, Any]] = tomllib.loads(
    (ROOT / "pyproject.toml").read_text(encoding="utf-8")
)
PURE: Final[list[str]] = next(
    contract["source_modules"]
    for contract in PROJECT["tool"]["importlinter"]["contracts"]
    if contract["id"] == "pure"
)
PURE_ROOMS: Final = tuple(f"{name.replace('.', '/')}/" for name in PURE)
PURE_FILES: Final = [name for name in MODULES if name.startswith(PURE_ROOMS)]

PUBLIC_NAMES: Final = [
    "Cortex",
    "Decision",
    "Engram",
    "EngramdownError",
    "Entry",
    "EpisodicMemory",
    "Hippocampus",
    "HippocampusProtocol",
    "MemoryContext",
    "Proposal",
    "Receipt",
    "Session",
    "WorkingContext",
    "__version__",
]
RUNTIME_DEPENDENCIES: Final = {
    "click",
    "jinja2",
    "portalocker",
    "pydantic",
}
# Imported by name where they are used, and only if they are chosen or there.
OPTIONAL_DEPENDENCIES: Final = {
    "anthropic": {"anthropic", "engramdown"},
    "embeddings": {"fastembed", "numpy"},
    "langgraph": {"langgraph"},
    "mcp": {"mcp"},
    "model": {"instructor"},
    "openai": {"engramdown", "openai"},
    "openai-agents": {"openai-agents"},
    "pydantic-ai": {"pydantic-ai-slim"},
    "sentence-transformers": {"numpy", "sentence-transformers"},
    "serve": {"starlette", "uvicorn"},
}

# What a module that adapts another library imports: that library and what it brings along.
ADAPTED: Final = {
    "engramdown/mcp/": {"anyio", "mcp", "mcp_types", "starlette", "uvicorn"},
    "engramdown/models/": {"instructor"},
    "engramdown/web/": {"markupsafe", "starlette", "uvicorn"},
    "engramdown/integrations/": {"agents", "anthropic", "langgraph", "openai", "pydantic_ai"},
}


def complaints(rules_kept: Iterable[rules.Rule], names: Iterable[str]) -> list[str]:
    """Return all that the rules say against the modules, with the place of each."""
    return [
        f"{name}:{complaint}"
        for name in names
        for rule in rules_kept
        for complaint in rule(MODULES[name])
    ]


@pytest.mark.slow
def test_every_module_keeps_every_rule() -> None:
    assert complaints(rules.RULES, MODULES) == []


@pytest.mark.slow
def test_every_module_runs_on_every_system() -> None:
    assert complaints([rules.is_of_every_system], MODULES) == []


@pytest.mark.slow
def test_every_lock_is_free_in_a_child_process() -> None:
    others = [name for name in MODULES if name != "engramdown/forks.py"]
    assert complaints([rules.locks_survive_a_fork], others) == []


def test_every_pure_module_keeps_the_rules_of_pure_modules() -> None:
    assert complaints(rules.PURE_RULES, PURE_FILES) == []


@every(
    "rule, bad",
    [
        pytest.param(rules.has_docstring, "a = 1\n", id="no-docstring"),
        pytest.param(rules.calls_no_splitlines, "text.splitlines()\n", id="splitlines"),
        pytest.param(rules.calls_no_splitlines, "f = str.splitlines\n", id="splitlines-as-value"),
        pytest.param(rules.suppresses_with_reason, "f()  # noqa: S102\n", id="noqa"),
        pytest.param(rules.suppresses_with_reason, "f()  # type: ignore[call]\n", id="ignore"),
        pytest.param(rules.is_of_every_system, "import fcntl\n", id="one-system"),
        pytest.param(rules.is_of_every_system, "def f():\n    import fcntl\n", id="inside"),
        pytest.param(rules.is_of_every_system, "from fcntl import flock\n", id="from-one-system"),
        pytest.param(
            rules.is_of_every_system,
            "try:\n    import termios\nexcept OSError:\n    pass\n",
            id="one-system-tried",
        ),
        pytest.param(rules.locks_survive_a_fork, "a = threading.RLock()\n", id="lock"),
        pytest.param(rules.locks_survive_a_fork, "from threading import Lock\n", id="from"),
        pytest.param(
            rules.locks_survive_a_fork, "from functools import cached_property\n", id="cached"
        ),
        pytest.param(rules.reads_no_clock, "datetime.now(UTC)\n", id="now"),
        pytest.param(rules.reads_no_clock, "date.today()\n", id="today"),
        pytest.param(rules.does_no_io, "open('x')\n", id="open"),
        pytest.param(rules.does_no_io, "print('x')\n", id="print"),
    ],
)
def test_a_rule_bites(rule: rules.Rule, bad: str) -> None:
    assert len(rule(bad)) == 1


@pytest.mark.parametrize(
    "rule, good",
    [
        pytest.param(rules.has_docstring, '"""Doc."""\na = 1\n', id="docstring"),
        pytest.param(rules.suppresses_with_reason, "f()  # noqa: S102 - it runs docs\n", id="noqa"),
        pytest.param(
            rules.is_of_every_system,
            "try:\n    import termios\nexcept ImportError:\n    pass\n",
            id="done-without",
        ),
    ],
)
def test_a_rule_lets_good_code_pass(rule: rules.Rule, good: str) -> None:
    assert rule(good) == []


def test_the_public_names_are_a_decision() -> None:
    assert sorted(engramdown.__all__) == PUBLIC_NAMES


@every("name", PUBLIC_NAMES)
def test_every_public_name_is_there(name: str) -> None:
    assert hasattr(engramdown, name)


def test_the_version_is_the_one_of_the_package() -> None:
    assert engramdown.__version__ == PROJECT["project"]["version"]


def test_the_dependencies_are_a_decision() -> None:
    declared = PROJECT["project"]["dependencies"]
    assert {re.split(r"[<>=~!\[; ]", item)[0] for item in declared} == RUNTIME_DEPENDENCIES


def test_the_extras_are_a_decision() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    named = {name: {re.split(r"[<>=~!\[; ]", item)[0] for item in extras[name]} for name in extras}
    # What is for those who work on this project.
    assert {"dev", "fuzz"} <= named.keys()
    named = {name: named[name] for name in named.keys() - {"dev", "fuzz"}}
    assert named == OPTIONAL_DEPENDENCIES


@pytest.mark.slow
def test_every_import_is_declared() -> None:
    undeclared = {name: undeclared_imports(name) for name in MODULES}
    assert {name: imports for name, imports in undeclared.items() if imports} == {}


def undeclared_imports(name: str) -> set[str]:
    imported = rules.third_party_imports(MODULES[name]) - {"engramdown"}
    folder = f"{Path(name).parent.as_posix()}/"
    adapted = {each for place in ADAPTED if folder.startswith(place) for each in ADAPTED[place]}
    return imported - RUNTIME_DEPENDENCIES - adapted


def test_an_undeclared_import_is_seen() -> None:
    source = "import os.path\nimport httpx.client\ndef f():\n    from yaml import load\n"
    assert rules.third_party_imports(source) == {"httpx", "yaml"}


def test_what_is_pure_is_what_must_be_covered() -> None:
    covered = PROJECT["tool"]["coverage"]["report"]["include"]
    assert covered == [f"{room}*" for room in PURE_ROOMS]


def test_every_public_name_has_its_place_in_the_docs() -> None:
    docs = read_docs()
    names = [name for name in engramdown.__all__ if name != "__version__"]
    assert [name for name in names if not re.search(rf"\b{name}\b", docs)] == []


def test_every_command_has_its_place_in_the_docs() -> None:
    docs = read_docs()
    names = command_names()
    assert names
    assert [name for name in names if not re.search(rf"\bengramdown {name}\b", docs)] == []


def read_docs() -> str:
    return "\n".join(
        page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))
    )


def command_names() -> list[str]:
    """Return the names of the commands that a person sees."""
    module = importlib.import_module("engramdown.cli.main")
    (group,) = {item for item in vars(module).values() if isinstance(item, click.Group)}
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return [name for name, command in found.items() if command and not command.hidden]
