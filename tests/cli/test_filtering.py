"""A filter lets through what was asked for, and everything when nothing was."""

from __future__ import annotations

from datetime import date

import pytest

from engramdown.cli.show import Filter, age_of
from engramdown.hippocampus.entry import Entry

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


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(Filter(), id="nothing-asked"),
        pytest.param(Filter(kind=("never", "always")), id="kind"),
        pytest.param(Filter(scope=("project",)), id="scope"),
        pytest.param(Filter(confidence=("medium",)), id="confidence"),
        pytest.param(Filter(source=("llm",)), id="source"),
        pytest.param(Filter(topic="API CoinGecko"), id="topic-in-words"),
        pytest.param(Filter(older=29), id="older"),
        pytest.param(Filter(newer=30), id="newer"),
        pytest.param(Filter(older=29, newer=30, kind=("always",)), id="all-at-once"),
    ],
)
def test_what_fits_passes(wanted: Filter) -> None:
    assert wanted.passes(RULE, TODAY)


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(Filter(kind=("never",)), id="kind"),
        pytest.param(Filter(scope=("global",)), id="scope"),
        pytest.param(Filter(confidence=("high",)), id="confidence"),
        pytest.param(Filter(source=("user",)), id="source"),
        pytest.param(Filter(topic="ci"), id="topic"),
        pytest.param(Filter(older=30), id="not-older"),
        pytest.param(Filter(newer=29), id="not-newer"),
        pytest.param(Filter(kind=("always",), scope=("global",)), id="one-of-two"),
    ],
)
def test_what_does_not_fit_stays_out(wanted: Filter) -> None:
    assert not wanted.passes(RULE, TODAY)


@pytest.mark.parametrize("wanted", [Filter(older=0), Filter(newer=10_000)])
def test_what_has_no_date_has_no_age(wanted: Filter) -> None:
    assert age_of(UNDATED, TODAY) is None
    assert not wanted.passes(UNDATED, TODAY)


def test_a_filter_knows_whether_it_keeps_anything_out() -> None:
    assert not Filter()
    assert Filter(newer=0)
    assert Filter(topic="ci")
