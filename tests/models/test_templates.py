"""What a template may say: enough to change every word, nothing that could run on and on."""

from __future__ import annotations

import pytest

from engramdown.context.sections import renderer
from engramdown.errors import StoreError
from engramdown.models.templates import FILTERS
from tests.tables import every


class Group:
    """Two lines under a heading."""

    title = "Always"
    lines = ("- a", "- b")


VALUES = {"heading": "## Mine", "groups": [Group(), Group()], "left_out": 3}


def render(source: str) -> str:
    return renderer({"section.j2": source})("section.j2", VALUES)


@every(
    "source",
    [
        pytest.param("{% for i in range(10**9) %}{% endfor %}", id="range"),
        pytest.param("{% for i in 'abc' %}{% endfor %}", id="loop-over-text"),
        pytest.param("{% for i in [1, 2] %}{% endfor %}", id="loop-over-list"),
        pytest.param("{% for i in groups recursive %}{{ loop(groups) }}{% endfor %}", id="again"),
        pytest.param("{% for a, b in groups %}{% endfor %}", id="unpacked"),
        pytest.param("{% for a in groups|list %}{% endfor %}", id="loop-over-filter"),
        pytest.param("{% for a in groups if a * 9 %}{% endfor %}", id="condition"),
        pytest.param("{% for a in groups %}{% else %}{{ a * 9 }}{% endfor %}", id="else"),
        pytest.param(
            "{% for a in groups %}{% for b in groups %}{% endfor %}{% endfor %}", id="product"
        ),
        pytest.param(
            "{% for a in groups %}{% if a %}{% for b in heading.x %}{% endfor %}{% endif %}"
            "{% endfor %}",
            id="product-in-if",
        ),
        pytest.param(
            "{% for a in groups %}{% for b in a.lines %}{% for c in a.lines %}x"
            "{% endfor %}{% endfor %}{% endfor %}",
            id="lines-for-each-line",
        ),
        pytest.param("{% for a in groups %}{% for b in a %}{% endfor %}{% endfor %}", id="letters"),
        pytest.param(
            "{% for a in groups %}{% for b in a.b.c %}{% endfor %}{% endfor %}", id="deeper"
        ),
        pytest.param("{{ 'x' * 10 ** 9 }}", id="times"),
        pytest.param("{{ 10 ** 10 ** 10 }}", id="power"),
        pytest.param("{{ '%999999999d' % 1 }}", id="percent"),
        pytest.param("{{ 'x'.ljust(10 ** 9) }}", id="method"),
        pytest.param("{{ 'x'.__mul__(1000000000) }}", id="operator-as-method"),
        pytest.param("{{ 'x' | center(1000000000) }}", id="filter"),
        pytest.param("{% filter center(1000000000) %}x{% endfilter %}", id="filter-block"),
        pytest.param("{{ ['x'] | map('center', 1000000000) | first }}", id="map"),
        pytest.param("{{ heading | join(heading) }}", id="join-with-a-value"),
        pytest.param("{{ heading | join('ab') | join('ab') }}", id="join-again"),
        pytest.param("{{ heading | join(d=heading) }}", id="join-by-name"),
        pytest.param("{{ heading | join(*groups) }}", id="join-unpacked"),
        pytest.param("{% set x = heading ~ heading %}", id="set"),
        pytest.param("{% with x = heading %}{% endwith %}", id="with"),
        pytest.param("{{ heading ~ heading }}", id="concat"),
        pytest.param("{{ heading + heading }}", id="plus"),
        pytest.param("{{ groups[0:1] }}", id="slice"),
        pytest.param("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", id="macro"),
        pytest.param("{% include 'section.j2' %}", id="include"),
        pytest.param("{% extends 'section.j2' %}", id="extends"),
        pytest.param("{% import 'section.j2' as x %}", id="import"),
        pytest.param("{% block a %}{{ self.a() }}{% endblock %}", id="block"),
    ],
)
def test_what_could_run_on_and_on_is_refused_with_its_line(source: str) -> None:
    with pytest.raises(
        StoreError, match=r"templates/section\.j2, line 2: .* not allowed here; docs/"
    ):
        render("\n" + source)


@every(
    "source, said",
    [
        pytest.param("{{ heading | lower }}", "## mine", id="filter"),
        pytest.param("{{ heading | default('x', boolean=true) }}", "## Mine", id="arguments"),
        pytest.param("{% for g in groups %}{{ loop.index }}{{ g.title }} {% endfor %}",
                     "1Always 2Always ", id="loop"),
        pytest.param("{% for g in groups %}{% for line in g.lines if line != '- a' %}{{ line }}"
                     "{% else %}none{% endfor %}{% endfor %}", "- b- b", id="loop-in-loop"),
        pytest.param("{% for g in groups %}{% endfor %}{% for h in groups %}x{% endfor %}", "xx",
                     id="loop-after-loop"),
        pytest.param("{{ 'many' if left_out > 2 and not left_out == 9 or false else 'few' }}",
                     "many", id="condition"),
        pytest.param("{% if no is defined %}a{% elif left_out is odd %}b{% else %}c{% endif %}",
                     "b", id="tests"),
        pytest.param("{% for g in groups %}{{ g.lines | join('; ') }} {% endfor %}",
                     "- a; - b - a; - b ", id="join"),
        pytest.param("{% raw %}{{ a }}{% endraw %}{# note #}", "{{ a }}", id="raw-and-comment"),
    ],
)  # fmt: skip
def test_what_is_needed_to_say_it_in_other_words_is_allowed(source: str, said: str) -> None:
    assert render(source) == said


def test_the_filters_are_those_that_jinja_has() -> None:
    from jinja2 import Environment

    assert set(FILTERS) <= set(Environment(autoescape=True).filters)


@pytest.mark.slow
def test_what_is_nested_for_its_own_sake_is_refused() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(StoreError, match=r"section\.j2"):
        renderer({"section.j2": "{{ heading }}"})("section.j2", {"heading": deep})


def test_a_template_that_says_everything_again_and_again_is_refused() -> None:
    loud = "{{ heading }}" * 100
    values = {"heading": "x" * 1000}
    with pytest.raises(
        StoreError, match=r"templates/section\.j2: is more than 10 times as long as"
    ):
        renderer({"section.j2": loud})("section.j2", values)
    assert len(renderer({"section.j2": loud[:130]})("section.j2", values)) == 10_000
