"""The list of attacks is whole, and each test that it names is there."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Final

from tests.attacks.listed import LATER, LISTED
from tests.tables import every

TESTS: Final = Path(__file__).resolve().parent.parent


def test_every_number_is_listed_but_those_of_servers() -> None:
    assert sorted([*LISTED, *LATER]) == list(range(1, 85))


@every("number", LISTED)
def test_every_test_that_is_named_is_there(number: int) -> None:
    attack = LISTED[number]
    assert attack.expected in set("RNQKW")
    assert attack.tests
    for test in attack.tests:
        file, name = test.split("::")
        assert name in defined(TESTS / file), test


@cache
def defined(file: Path) -> set[str]:
    """Return the names of the functions of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
