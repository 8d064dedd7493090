"""Half a pair of surrogates is mended; everything else stays as it is."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from engramdown.mcp.stdio import well_formed

VALUES = st.recursive(
    st.none() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans())
def test_what_every_reader_takes_comes_back(value: object, plain: bool) -> None:  # noqa: FBT001
    data = json.dumps(value, ensure_ascii=plain).encode("utf-8", "surrogatepass")
    mended = well_formed(data)
    if not plain:
        assert mended == data
        return
    mended.decode()
    assert json.loads(mended) == json.loads(
        json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    )


@given(st.binary())
def test_what_is_no_json_stays_as_it_is(data: bytes) -> None:
    broken = b"\\ud800 {" + data
    assert well_formed(broken) == broken


def test_a_byte_order_mark_is_left_out() -> None:
    assert well_formed(b"\xef\xbb\xbf{}") == b"{}"
