"""Every example in a docstring of the package is true.

Run here and not with --doctest-modules, so that the examples get the isolated home of a test.
"""

from __future__ import annotations

import doctest
import importlib.util
import pkgutil
from pathlib import Path
from typing import Final

import pytest

import engramdown
from benchmarks import measure
from tests import snippets

MODULES: Final = [
    engramdown.__name__,
    *(module.name for module in pkgutil.walk_packages(engramdown.__path__, "engramdown.")),
    measure.__name__,
    snippets.__name__,
]


def has_examples(name: str) -> bool:
    """Return whether a prompt stands in the source of the module."""
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    return ">>> " in Path(found.origin).read_text(encoding="utf-8")


def test_every_module_can_be_imported() -> None:
    """Those without an example too."""
    for name in MODULES:
        importlib.import_module(name)


@pytest.mark.parametrize("name", [name for name in MODULES if has_examples(name)])
def test_the_examples_of_a_module_are_true(name: str) -> None:
    module = importlib.import_module(name)
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert found.attempted
    assert not found.failed
