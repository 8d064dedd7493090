"""Episodes as no program would write them, for property tests.

Promises: every field of an episode takes part; texts hold what breaks lines, JSON and encodings.
"""

from __future__ import annotations

from datetime import UTC
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from engramdown.transcripts.episode import EVENTS, ROLES, Episode, join_surrogates, stamp

NASTY: Final = (
    "",
    "\n",
    "\r\n",
    "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g",
    "\x00",
    "\ufeffmarked",
    "\ud800 alone",
    "\udc80\udcff",
    '{"seq":0}\n{"seq":1}',
    "\\u2028\\ud83d",
    "\U0001f469\u200d\U0001f467",
    "e\u0301 \u202eback\u202c",
    "\x1b[31mred",
    "x" * 5_000,
)

_any_char: Final = st.characters(min_codepoint=0, max_codepoint=0x10FFFF)
texts: Final[SearchStrategy[str]] = (
    st.sampled_from(NASTY) | st.text(_any_char | st.characters(categories=["Cs"]))
).map(join_surrogates)
"""Any text, with lone surrogates, but no pair of them: JSON takes a pair for what it means."""

_words: Final = texts.filter(bool)
any_value: Final[SearchStrategy[Any]] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | texts
    | st.binary(max_size=4)
    | st.datetimes()
    | st.just(object()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(texts | st.integers() | st.tuples(st.integers()), inner, max_size=3)
    ),
    max_leaves=8,
)
"""Whatever a program may hand over as a tool's input."""

_moments: Final = st.datetimes(timezones=st.just(UTC)).map(stamp)

_plain_json: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
_foreign: Final = st.dictionaries(st.sampled_from(["of", "v", "ünknown", "\u2028"]), _plain_json)

episodes: Final[SearchStrategy[Episode]] = st.builds(
    Episode,
    seq=st.integers(0, 2**40),
    ts=_moments,
    id=_words,
    role=st.sampled_from(ROLES),
    text=texts,
    name=texts,
    call=texts,
    ms=st.none() | st.floats(0, 1e9) | st.integers(0, 10**9),
    error=st.booleans() | _words,
    model=texts,
    turn=st.none() | st.integers(0, 10**6),
    cut=st.none() | st.integers(0, 10**9),
    payload=texts,
    recalled=st.lists(texts, max_size=3).map(tuple),
    meta=st.dictionaries(texts, _plain_json, max_size=3),
    event=st.sampled_from(("", *EVENTS)),
    more=_foreign,
)
"""Any episode."""
