"""Every example in a docstring of the package is true.

Run here and not with --doctest-modules, so that the examples get the isolated home of a test.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import engramdown
from benchmarks import measure
from tests import snippets

MODULES = [
    engramdown.__name__,
    *(module.name for module in pkgutil.walk_packages(engramdown.__path__, "engramdown.")),
    measure.__name__,
    snippets.__name__,
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
