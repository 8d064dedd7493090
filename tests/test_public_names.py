"""The public names: each is there, each costs nothing until it is used.

Which names there are is a decision that tests/test_habits.py holds.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import engramdown
from tests.tables import every

ROOMS = [
    path.name
    for path in Path(engramdown.__file__).parent.iterdir()
    if (path / "__init__.py").exists()
]
NAMES = [name for name in engramdown.__all__ if name != "__version__"]

# Some are imported by the Cortex for its hints alone.
PUBLIC = {name: getattr(engramdown, name) for name in NAMES}

# What a program loads when it has imported the package and touched one name.
LOADED = """
import sys
import engramdown
{touch}
print(*(name for name in sys.modules if name.startswith("engramdown.")))
"""


def modules_after(touch: str, env: dict[str, str]) -> list[str]:
    """Return the modules of the package that are loaded after ``touch``."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(touch=touch)],
        check=True,
        capture_output=True,
        encoding="utf-8",
        env=env,
    )
    return done.stdout.split()


@every("name", NAMES)
def test_a_name_is_the_thing_that_its_module_offers(name: str) -> None:
    thing = getattr(engramdown, name)
    assert thing.__name__ == name
    assert getattr(import_module(thing.__module__), name) is thing
    assert thing.__doc__


def test_importing_the_package_imports_none_of_its_modules(child_env: dict[str, str]) -> None:
    assert modules_after("", child_env) == []


def test_an_engram_costs_no_store(child_env: dict[str, str]) -> None:
    loaded = modules_after("engramdown.Engram", child_env)
    assert "engramdown.engram" in loaded
    assert not any("cortex" in name or "hippocampus" in name for name in loaded)


def test_a_name_is_looked_up_once() -> None:
    vars(engramdown).pop("Decision", None)
    assert engramdown.Decision is vars(engramdown)["Decision"]


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'engramdown' has no attribute 'Amygdala'"):
        engramdown.Amygdala  # noqa: B018 - looking it up is the test


def test_a_prompt_completes_every_name() -> None:
    assert dir(engramdown) == sorted(engramdown.__all__)


@every(
    "method, names",
    [
        pytest.param("propose", ["Engram", "Receipt"], id="propose"),
        pytest.param("encoding_gate", ["Engram", "Decision"], id="gate"),
        pytest.param("pending", ["Proposal"], id="pending"),
        pytest.param("session", ["Session"], id="session"),
        pytest.param("build_memory_context", ["MemoryContext"], id="context"),
    ],
)
def test_what_a_cortex_takes_and_gives_is_public(method: str, names: list[str]) -> None:
    hints = get_type_hints(getattr(engramdown.Cortex, method), localns=PUBLIC).values()
    inner = {part for hint in hints for part in (hint, *get_args(hint))}
    assert {getattr(engramdown, name) for name in names} <= inner


@every("room", ROOMS)
def test_a_door_gives_what_it_names(room: str) -> None:
    door = import_module(f"engramdown.{room}")
    assert [name for name in dir(door) if not hasattr(door, name)] == []
