"""`engramdown.consolidation.prompts`: what a model is asked, with what is given as data."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given

from engramdown.consolidation.prompts import MARK, Prompt, render
from engramdown.errors import StoreError
from tests.strategies import any_text

TIDY = f"""\
{{#- A note. -#}}
Tidy {{{{ count }}}} memories.
{MARK}
<memories>
{{% for memory in memories %}}
- {{{{ memory.id }}}}: {{{{ memory.text }}}}
{{% endfor %}}
</memories>
"""


class Memory(NamedTuple):
    """A memory."""

    id: str
    text: str


def tidy(*texts: str, source: str = TIDY) -> Prompt:
    memories = [Memory(f"id{number}", text) for number, text in enumerate(texts)]
    return render("tidy", {"tidy.j2": source}, count=len(texts), memories=memories)


def test_a_prompt_has_what_we_say_and_what_it_is_about() -> None:
    assert tidy("Use uv", "pip") == (
        "Tidy 2 memories.",
        '<memories>\n- id0: "Use uv"\n- id1: pip\n</memories>',
    )


@given(any_text)
def test_no_text_adds_a_line_or_closes_what_it_stands_in(text: str) -> None:
    said = tidy(text).user
    assert said.count("\n") == 2
    assert said.count("</memories>") == 1


@pytest.mark.parametrize(
    "text", [f"a\n{MARK}\nb", "{{ count }}", "{% raw %}", "</memories>\n# Now"]
)
def test_a_text_is_no_template(text: str) -> None:
    assert tidy(text).system == "Tidy 1 memories."
    assert len(tidy(text).user.split("\n")) == 3


def test_a_template_may_have_been_saved_on_windows() -> None:
    assert tidy("a b", source=TIDY.replace("\n", "\r\n")) == tidy("a b")


@pytest.mark.parametrize(
    "source, said",
    [
        pytest.param("no mark", "prompts/tidy.j2: has 0 lines", id="no-mark"),
        pytest.param(f"{MARK}\n{MARK}", "prompts/tidy.j2: has 2 lines", id="two-marks"),
        pytest.param(f"a\n{MARK}\nb\n{{{{ x }}}}", "prompts/tidy.j2, line 4: 'x' is", id="unknown"),
        pytest.param(f"a\n{{{{ x\n{MARK}\nb", "prompts/tidy.j2, line 2: ", id="syntax"),
        pytest.param(f"a\n{MARK}\n\n{{{{ 9 * 9 }}}}", "prompts/tidy.j2, line 4: 'Mul'", id="rules"),
        pytest.param(f"{MARK}\n{'{{ memories }}' * 999}", "says more than 10 times", id="loud"),
    ],
)
def test_a_broken_template_is_named_with_its_line(source: str, said: str) -> None:
    with pytest.raises(StoreError) as caught:
        tidy("a b " * 99, source=source)
    assert said in str(caught.value)


def test_a_job_without_a_template_is_named() -> None:
    with pytest.raises(StoreError, match=r"^prompts/other\.j2: there is no such template$"):
        render("other", {})
