"""Items of the OpenAI Agents SDK, of every type and of none, for laws about them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["items"]

_ids = st.sampled_from(["call_1", "call_2", "fc_9", ""])
_texts = st.text(max_size=30) | st.sampled_from(
    ["x" * 3000, "a\nb", "\ud83d", "\u2028", '{"a": 1}']
)
_any = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def _of(**fields: object) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            name: each if isinstance(each, st.SearchStrategy) else st.just(each)
            for name, each in fields.items()
        }
    )


_input = (
    _of(type="input_text", text=_texts)
    | _of(type="input_image", image_url="data:image/png;base64,AAAA", detail="auto")
    | _of(type="input_file", file_id="file_1")
)
_output = _of(type="output_text", text=_texts, annotations=st.just([])) | _of(
    type="refusal", refusal=_texts
)
_said = (
    _of(role=st.sampled_from(["user", "system", "developer", "assistant"]), content=_texts)
    | _of(role="user", content=st.lists(_input, max_size=3))
    | _of(type="message", id=_ids, role="assistant", status="completed", content=st.lists(_output))
)
_done = (
    _of(type="function_call", call_id=_ids, name="shell", arguments=_texts, id=_ids)
    | _of(type="function_call_output", call_id=_ids, output=_texts | st.lists(_input))
    | _of(type="custom_tool_call", call_id=_ids, name="sql", input=_texts)
    | _of(type="custom_tool_call_output", call_id=_ids, output=_texts)
    | _of(type="shell_call_output", call_id=_ids, output=_any, status="incomplete")
    | _of(type="computer_call", id=_ids, call_id=_ids, action=_any)
    | _of(type="web_search_call", id=_ids, status="completed", action=_any)
    | _of(type="image_generation_call", id=_ids, result=st.just("AAAA" * 900))
)
_other = (
    _of(type="reasoning", id=_ids, summary=st.lists(_of(type="summary_text", text=_texts)))
    | _of(type="reasoning", id=_ids, summary=st.just([]), encrypted_content=st.just("gAAA" * 30))
    | _of(type="compaction", encrypted_content=_texts)
    | _of(type="item_reference", id=_ids)
    | _of(type="mcp_approval_request", id=_ids, name="x", arguments=_texts, server_label="s")
    | _of(type=st.text(max_size=6), whatever=_any)
    | _of(type="message", role=st.text(max_size=3), content=_any)
    | _of(role="assistant", content=_any)
)
items: st.SearchStrategy[Any] = _said | _done | _other | _any
"""Any item, and what is none."""
