"""The words that reach a model, from templates that a person may replace.

Promises: a template sees nothing but the values that it is given, in a sandbox, and does nothing
that could run on and on; a broken one is reported as a :class:`StoreError` that names it and the
line; the same values give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from engramdown.errors import StoreError

if TYPE_CHECKING:
    import jinja2

__all__ = ["TEMPLATES", "Render", "renderer"]

TEMPLATES: Final = ("context.j2", "section.j2", "history.j2", "scratchpad.j2")
"""The templates: the whole context, one section of it, the one of earlier sessions, and what a
scratchpad tool is told."""

_NEXT: Final = "mend the template, or remove it to get our words back"
# A template may say each thing several times, and have some words of its own.
_TIMES: Final = 10
_ROOM: Final = 20_000

Render = Callable[[str, Mapping[str, object]], str]
"""Takes the name of a template and its values, gives the words without blank lines around them."""


def renderer(overrides: Mapping[str, str]) -> Render:
    """Return what renders our templates, or those of ``overrides`` that take their place.

    Args:
        overrides: Sources by name, see :data:`TEMPLATES`.

    Raises:
        StoreError: When rendering, if a template is none, fails, or asks for an unknown value.

    >>> renderer({"section.j2": "# {{ heading }}"})("section.j2", {"heading": "Mine"})
    '# Mine'
    """
    return _renderer(tuple(sorted(overrides.items())))


@lru_cache(maxsize=8)
def _renderer(overrides: tuple[tuple[str, str], ...]) -> Render:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        # What is escaped for HTML is not what a person wrote; nothing here reaches a browser.
        autoescape=False,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals.clear()
    sources = dict(overrides)
    # What a template can raise: its own errors, and those of the expressions in it.
    failures = (
        jinja2.TemplateError,
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        RecursionError,
        SyntaxError,  # loops in loops, deeper than Python goes
        TypeError,
        ValueError,
    )

    @cache
    def compiled(name: str) -> jinja2.Template:
        return _compile(environment, name, _source(name, sources))

    def render(name: str, values: Mapping[str, object]) -> str:
        try:
            return _joined(compiled(name), name, values).strip("\n")
        except failures as error:
            raise _broken(name, error) from error

    return render


def _compile(environment: jinja2.Environment, name: str, source: str) -> jinja2.Template:
    from jinja2 import TemplateSyntaxError

    from engramdown.cortex.template_rules import LONGEST, check

    if len(source) > LONGEST:
        raise TemplateSyntaxError(f"has more than {LONGEST} characters", 1, name, name)
    parsed = environment.parse(source, name, name)
    check(parsed, name)
    code = environment.compile(parsed, name, name)
    return environment.template_class.from_code(environment, code, {})


def _joined(template: jinja2.Template, name: str, values: Mapping[str, object]) -> str:
    """Return what a template says, unless it says everything again and again."""
    room = _ROOM + _TIMES * _length(values)
    chunks = []
    for chunk in template.generate(values):
        chunks.append(chunk)
        room -= len(chunk)
        if room < 0:
            raise StoreError(
                f"templates/{name}: says more than {_TIMES} times what it is given; {_NEXT}"
            )
    return "".join(chunks)


def _length(value: object) -> int:
    """Return how many characters a value holds, those of its parts added up."""
    if isinstance(value, str):
        return len(value)
    parts = value.values() if isinstance(value, Mapping) else value
    return sum(map(_length, parts)) if isinstance(parts, Iterable) else 1


def _source(name: str, overrides: Mapping[str, str]) -> str:
    import pkgutil

    from jinja2 import TemplateNotFound

    if name in overrides:
        return overrides[name]
    if name not in TEMPLATES:
        raise TemplateNotFound(name)
    ours = pkgutil.get_data("engramdown.cortex", f"templates/{name}") or b""
    return ours.decode("utf-8")


def _broken(name: str, error: Exception) -> StoreError:
    import traceback

    from jinja2 import TemplateNotFound, TemplateSyntaxError

    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == name]
    line = error.lineno if isinstance(error, TemplateSyntaxError) else lines[-1] if lines else 1
    reason = str(error).partition("\n")[0] or type(error).__name__
    if isinstance(error, TemplateNotFound):
        reason = "there is no such template"
    return StoreError(f"templates/{name}, line {line}: {reason}; {_NEXT}")
