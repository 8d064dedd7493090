"""A filter lets through what was asked for, and everything when nothing was."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from engramdown.hippocampus.entry import Entry, age_of, passes
from tests.tables import every

TODAY = date(2026, 3, 31)
RULE = Entry(
    id="k3v9q2ht",
    text="Use uv",
    kind="always",
    scope="project",
    confidence="medium",
    source="llm",
    topic="api-coingecko",
    ts="2026-03-01",
)
UNDATED = Entry(id="_abcdefg", text="By hand", kind="lesson", scope="global")


def filters(**wanted: Any) -> dict[str, Any]:  # noqa: ANN401 - as click gives them
    """Return the options of ``list``, some of which are given."""
    choices = dict.fromkeys(("kind", "scope", "confidence", "source"), ())
    return {**choices, "topic": "", "older": None, "newer": None, **wanted}


@every(
    "wanted",
    [
        pytest.param(filters(), id="nothing-asked"),
        pytest.param(filters(kind=("never", "always")), id="kind"),
        pytest.param(filters(scope=("project",)), id="scope"),
        pytest.param(filters(confidence=("medium",)), id="confidence"),
        pytest.param(filters(source=("llm",)), id="source"),
        pytest.param(filters(topic="API CoinGecko"), id="topic-in-words"),
        pytest.param(filters(older=29), id="older"),
        pytest.param(filters(newer=30), id="newer"),
        pytest.param(filters(older=29, newer=30, kind=("always",)), id="all-at-once"),
    ],
)
def test_what_fits_passes(wanted: dict[str, Any]) -> None:
    assert passes(RULE, TODAY, wanted)


@every(
    "wanted",
    [
        pytest.param(filters(kind=("never",)), id="kind"),
        pytest.param(filters(scope=("global",)), id="scope"),
        pytest.param(filters(confidence=("high",)), id="confidence"),
        pytest.param(filters(source=("user",)), id="source"),
        pytest.param(filters(topic="ci"), id="topic"),
        pytest.param(filters(older=30), id="not-older"),
        pytest.param(filters(newer=29), id="not-newer"),
        pytest.param(filters(kind=("always",), scope=("global",)), id="one-of-two"),
    ],
)
def test_what_does_not_fit_stays_out(wanted: dict[str, Any]) -> None:
    assert not passes(RULE, TODAY, wanted)


@pytest.mark.parametrize("wanted", [filters(older=0), filters(newer=10_000)])
def test_what_has_no_date_has_no_age(wanted: dict[str, Any]) -> None:
    assert age_of(UNDATED, TODAY) is None
    assert not passes(UNDATED, TODAY, wanted)
