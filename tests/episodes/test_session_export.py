"""Laws: nothing that was said can look like a part of the page; results stand with their calls."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramdown.episodes.session_export import as_json, as_markdown
from engramdown.transcripts.episode import Episode
from tests.episodes.strategies import episodes, texts
from tests.tables import every

NAME = "20260227-101500-4f2a"


def said(seq: int, role: str, text: str = "", **more: Any) -> Episode:  # noqa: ANN401 - fields
    return Episode(
        seq=seq, ts=f"2026-02-27T10:15:{seq:02}.500000Z", id="i", role=role, text=text, **more
    )


def event(seq: int, kind: str, **more: Any) -> Episode:  # noqa: ANN401 - fields
    return said(seq, "event", event=kind, more=more)


def page(*told: Episode) -> str:
    return as_markdown(NAME, told, lambda _: None)


def test_a_session_is_a_page() -> None:
    found = page(
        event(0, "start", v=1, session=NAME, title="Fix `CI`", source="anton", parent="p1"),
        said(1, "user", "Why is CI red?\n# not a heading"),
        said(2, "tool_call", '{"cmd": "pytest"}', name="shell", call="c1", model="opus"),
        said(3, "tool_call", "two", name="shell", call="c2"),
        said(4, "tool_result", "```\n2 failed", name="shell", call="c1", ms=1250, error="exit 1"),
        said(5, "tool_result", "fine", call="c2", ms=12, error=True),
        said(6, "assistant", "Two tests depend on the clock."),
        event(7, "end", reason="finished"),
    )
    assert (
        found
        == """# `` Fix `CI` ``

- session: `20260227-101500-4f2a`
- start: 2026-02-27 10:15:00 UTC
- end: 2026-02-27 10:15:07 UTC (finished)
- source: `anton`
- parent: `p1`
- episodes: 6 (1 user, 2 tool call, 2 tool result, 1 assistant)

## user · #1 · 2026-02-27 10:15:01 UTC

> Why is CI red?
> # not a heading

## tool call `shell` · #2 · 2026-02-27 10:15:02 UTC · `opus`

```
{"cmd": "pytest"}
```

Result · #4 · 2026-02-27 10:15:04 UTC · 1.25 s · **error** `exit 1`

````
```
2 failed
````

## tool call `shell` · #3 · 2026-02-27 10:15:03 UTC

```
two
```

Result · #5 · 2026-02-27 10:15:05 UTC · 12 ms · **error**

```
fine
```

## assistant · #6 · 2026-02-27 10:15:06 UTC

> Two tests depend on the clock.
"""
    )


def test_a_call_and_a_result_may_stand_alone() -> None:
    found = page(
        said(1, "tool_result", "before", call="c1"),
        said(2, "tool_call", "a", call="c1"),
        said(3, "tool_call", "b", call="c1"),
        said(4, "tool_result", "of a", call="c1"),
        said(5, "tool_result", "", call=""),
        said(6, "tool_call", "without an id"),
    )
    titles = re.findall(r"(?m)^(?:## |Result|\*).*?(?= ·|$)", found)
    assert titles == [
        "## tool result",
        "## tool call",
        "Result",
        "## tool call",
        "*No result.*",
        "## tool result",
        "*Empty.*",
        "## tool call",
        "*No result.*",
    ]


def test_a_session_without_episodes_is_a_page() -> None:
    assert page() == f"# Session {NAME}\n\n- session: `{NAME}`\n- episodes: 0\n"


def test_a_session_without_a_beginning_begins_with_its_first_line() -> None:
    found = page(said(3, "user", ""), event(4, "end"), event(5, "exclude", of=[3]))
    assert (
        "- start: 2026-02-27 10:15:03 UTC\n- end: 2026-02-27 10:15:04 UTC (no reason given)"
        in found
    )
    assert '## exclude · #5 · 2026-02-27 10:15:05 UTC\n\n```\n{"of": [3]}\n```' in found
    assert "*Empty.*" in found
    assert "- end: open" in page(said(3, "user", "x"))
    assert "(`a b <i>`)" in page(event(4, "end", reason="a b <i>"))


@pytest.mark.parametrize(
    "whole, shown",
    [
        (None, "```\nbeg\n```\n\n*Cut: 3 of 1,234 characters were kept.*\n"),
        ("all", "```\nall\n```\n"),
    ],
)
def test_what_was_cut_is_shown_whole_if_it_was_kept(whole: str | None, shown: str) -> None:
    cut = said(1, "tool_result", "beg", cut=1234, payload="d")
    assert as_markdown(NAME, [cut], lambda _: whole).endswith(shown)
    dropped = said(1, "tool_result", "beg", cut=1234)
    assert as_markdown(NAME, [dropped], lambda _: "never asked").endswith("were kept.*\n")


@given(texts.filter(bool), st.sampled_from(["user", "tool_result", "scratchpad"]))
def test_no_text_gets_out_of_its_place(text: str, role: str) -> None:
    body = page(said(1, role, text)).split("UTC\n\n", 1)[1]
    lines = re.split(r"\r\n|\r|\n", body.removesuffix("\n"))
    if role == "user":
        assert all(line.startswith("> ") for line in lines)
        assert "\n".join(line[2:] for line in lines) == re.sub(r"\r\n|\r", "\n", text)
    else:
        fence = lines[0]
        assert fence == "`" * len(fence) == lines[-1]
        assert len(fence) > max(map(len, re.findall("`+", text)), default=2)
        assert body == f"{fence}\n{text}\n{fence}\n"


@given(st.lists(episodes, max_size=5), texts)
def test_any_session_is_a_page(told: list[Episode], title: str) -> None:
    first = event(0, "start", title=title)
    found = as_markdown(NAME, [first, *told], lambda _: None)
    headings = [line for line in re.split(r"[\r\n]", found) if line.startswith("# ")]
    assert len(headings) == 1
    assert as_json(NAME, told, lambda _: "w")["session"] == NAME


@every("char", ["`", "\r", ">", "#", "\x1b", "\u202e"])
def test_a_megabyte_of_anything_is_no_problem(char: str) -> None:
    assert len(page(said(1, "user", char * 1_000_000))) > 1_000_000
    assert len(page(said(1, "tool_result", char * 1_000_000, name=char * 100))) > 1_000_000
