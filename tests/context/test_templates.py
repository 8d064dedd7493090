"""`engramdown.context.sections`: the words that reach a model, ours or a person's."""

from __future__ import annotations

import pytest

from engramdown.context.sections import TEMPLATES, renderer
from engramdown.errors import StoreError

VALUES = {
    "heading": "## Mine",
    "groups": (),
    "left_out": 0,
    "rules_left_out": 0,
    "sections": (),
    "lines": ("- charts: Make charts",),
    "built_in": "write-a-skill",
    "sessions": (),
    "soul": "## Who You Are",
    "memory": "## Your Memory",
    "notes": "> mine",
    "memories": ("- Use uv",),
    "said": "> s1#2",
    "degraded": "Memory is degraded.",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_of_ours_can_be_rendered(name: str) -> None:
    assert renderer({})(name, VALUES).strip() != ""


def test_a_template_of_the_persons_own_takes_the_place_of_ours() -> None:
    assert renderer({"section.j2": "\n*{{ heading }}*\n"})("section.j2", VALUES) == "*## Mine*"
    assert renderer({})("section.j2", VALUES) == "## Mine"


def test_what_is_escaped_for_html_is_not_what_a_person_wrote() -> None:
    assert renderer({})("section.j2", {**VALUES, "heading": '<b> & "c"'}) == '<b> & "c"'


@pytest.mark.parametrize(
    "source, said",
    [
        pytest.param("a\n{{ x", "section.j2, line 2: unexpected end of template", id="syntax"),
        pytest.param("a\n\n{{ x }}", "section.j2, line 3: 'x' is undefined", id="unknown-value"),
        pytest.param("\n{{ heading < 1 }}", "section.j2, line 2: '<' not supported", id="types"),
        pytest.param("{{ ''.__class__ }}", "section.j2, line 1: access to attribute", id="sandbox"),
        pytest.param("{{ range }}", "section.j2, line 1: 'range' is undefined", id="global"),
        pytest.param("{{ heading | nope }}", "section.j2, line 1: ", id="filter"),
        pytest.param("{{ " + "(" * 4000 + "1", "section.j2, line 1: ", id="too-deep"),
        pytest.param(
            "{% for a in groups %}" + "{% for a in a.b %}" * 30 + "{% endfor %}" * 31,
            "section.j2, line 1: ", id="loops-too-deep",
        ),
        pytest.param("x" * 16_001, "section.j2, line 1: has more than 16000", id="too-long"),
    ],
)  # fmt: skip
def test_a_broken_template_is_named_with_its_line(source: str, said: str) -> None:
    with pytest.raises(StoreError) as caught:
        renderer({"section.j2": source})("section.j2", VALUES)
    assert said in str(caught.value)
    assert "fix the template, or remove it" in str(caught.value)


def test_a_template_that_is_nowhere_is_named_too() -> None:
    with pytest.raises(StoreError, match=r"other.j2, line 1: there is no such template"):
        renderer({})("other.j2", VALUES)
