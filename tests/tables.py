"""Tables of cases that one test goes through.

Promises: every row is tried, whatever became of the others; a row that fails is named.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def every(
    names: str | Sequence[str],
    rows: Iterable[Any],
    ids: Callable[[Any], object] | Iterable[object] | None = None,
) -> Callable[[Test], Test]:
    """Try a test on each row, as ``pytest.mark.parametrize`` does, but as one test.

    It is for rows that need no fixture of their own: the home, the reports and the bookkeeping of
    a test take longer than most of them do.

    Args:
        names: Of the arguments that a row gives.
        rows: What they are; of one argument a row is the value.
        ids: What a row that fails is called, if not by its values.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [_values(row, len(given)) for row in rows]
    called = ids if callable(ids) or ids is None else [*ids]

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def on_every_row(*arguments: Any, **fixtures: Any) -> None:  # noqa: ANN401 - any test's
            failures = []
            for row, values in enumerate(table):
                try:
                    test(*arguments, **fixtures, **dict(zip(given, values, strict=True)))
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - named below
                    failure.add_note(
                        f"row {row + 1} of {len(table)}: {_named(values, called, row)}"
                    )
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows", failures)

        assert table, f"{test.__qualname__} has no rows"
        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in given]
        vars(on_every_row)["__signature__"] = signature.replace(parameters=left)
        return on_every_row

    return decorate


def _values(row: Any, count: int) -> tuple[Any, ...]:  # noqa: ANN401 - any test's
    if isinstance(row, type(pytest.param())):
        assert not row.marks, "a row with a mark is a test of its own: pytest.mark.parametrize"
        return tuple(row.values)
    return (row,) if count == 1 else tuple(row)


def _named(
    values: tuple[Any, ...], ids: Callable[[Any], object] | Sequence[object] | None, row: int
) -> str:
    if ids is None:
        return repr(values)
    return " ".join(str(ids(value)) for value in values) if callable(ids) else str(ids[row])
