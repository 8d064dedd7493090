"""`engramdown.cortex.wording`: the words that reach a model, ours or a person's."""

from __future__ import annotations

import pytest

from engramdown.cortex.wording import TEMPLATES, renderer
from engramdown.errors import StoreError

VALUES = {"heading": "## Mine", "groups": (), "left_out": 0, "rules_left_out": 0, "sections": ()}


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_of_ours_can_be_rendered(name: str) -> None:
    assert renderer({})(name, VALUES).strip() != ""


def test_a_template_of_the_persons_own_takes_the_place_of_ours() -> None:
    assert renderer({"section.j2": "\n*{{ heading }}*\n"})("section.j2", VALUES) == "*## Mine*"
    assert renderer({})("section.j2", VALUES) == "## Mine"


def test_a_template_may_include_ours_and_others_of_its_own() -> None:
    mine = {"context.j2": "{% include 'section.j2' %}{% include 'sign.j2' %}", "sign.j2": "Ada"}
    assert renderer(mine)("context.j2", VALUES) == "## Mine\nAda"


def test_what_is_escaped_for_html_is_not_what_a_person_wrote() -> None:
    assert renderer({})("section.j2", {**VALUES, "heading": '<b> & "c"'}) == '<b> & "c"'


@pytest.mark.parametrize(
    "source, said",
    [
        pytest.param("a\n{{ x", "section.j2, line 2: unexpected end of template", id="syntax"),
        pytest.param("a\n\n{{ x }}", "section.j2, line 3: 'x' is undefined", id="unknown-value"),
        pytest.param("{{ 1 / 0 }}", "section.j2, line 1: division by zero", id="arithmetic"),
        pytest.param("\n{{ 1 + 'a' }}", "section.j2, line 2: unsupported operand", id="types"),
        pytest.param("{{ ''.__class__ }}", "section.j2, line 1: access to attribute", id="sandbox"),
        pytest.param("{% include 'no.j2' %}", "line 1: there is no template 'no.j2'", id="include"),
        pytest.param("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "maximum recursion",
                     id="recursion"),
        pytest.param("{{ 'x' * 10 ** 18 }}", "section.j2, line 1: MemoryError", id="memory"),
    ],
)  # fmt: skip
def test_a_broken_template_is_named_with_its_line(source: str, said: str) -> None:
    with pytest.raises(StoreError) as caught:
        renderer({"section.j2": source})("section.j2", VALUES)
    assert said in str(caught.value)
    assert "mend the template, or remove it" in str(caught.value)


def test_a_template_that_is_nowhere_is_named_too() -> None:
    with pytest.raises(StoreError, match=r"other.j2, line 1: there is no template"):
        renderer({})("other.j2", VALUES)
