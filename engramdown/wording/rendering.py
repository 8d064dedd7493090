"""Templates that a person may replace, rendered in a sandbox.

Promises: a template sees nothing but the values that it is given, and does nothing that could run
on and on; a broken one is reported as a :class:`StoreError` that names it and the line; the same
values give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.errors import StoreError

if TYPE_CHECKING:
    import jinja2

__all__ = ["Render", "Shelf", "renderer", "source_of"]

_NEXT: Final = "mend the template, or remove it to get our words back"
# A template may say each thing several times, and have some words of its own.
_TIMES: Final = 10
_ROOM: Final = 20_000

Render = Callable[[str, Mapping[str, object]], str]
"""Takes the name of a template and its values, gives the words without blank lines around them."""


class Shelf(NamedTuple):
    """Where templates stand.

    Attributes:
        package: The package that holds ours.
        folder: The folder, in that package and in a scope.
        say: What each value becomes where a template says it; ``None`` for nothing else.
    """

    package: str
    folder: str
    say: Callable[[object], object] | None = None


def renderer(shelf: Shelf, overrides: Mapping[str, str]) -> Render:
    """Return what renders our templates, or those of ``overrides`` that take their place.

    Args:
        shelf: Where ours stand.
        overrides: Sources by name.

    Raises:
        StoreError: When rendering, if a template is none, fails, or asks for an unknown value.

    >>> renderer(Shelf("engramdown", "none"), {"a.j2": "# {{ title }}"})("a.j2", {"title": "Mine"})
    '# Mine'
    """
    return _renderer(shelf, tuple(sorted(overrides.items())))


def source_of(shelf: Shelf, name: str, overrides: Mapping[str, str]) -> str:
    """Return the source of a template.

    Raises:
        TemplateNotFound: If there is none, neither of ours nor in ``overrides``.
    """
    import pkgutil

    from jinja2 import TemplateNotFound

    if name in overrides:
        return overrides[name]
    try:
        ours = pkgutil.get_data(shelf.package, f"{shelf.folder}/{name}")
    except FileNotFoundError:
        ours = None
    if ours is None:
        raise TemplateNotFound(name)
    return ours.decode("utf-8")


@lru_cache(maxsize=32)
def _renderer(shelf: Shelf, overrides: tuple[tuple[str, str], ...]) -> Render:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        # What is escaped for HTML is not what a person wrote; nothing here reaches a browser.
        autoescape=False,
        finalize=shelf.say,
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
        return _compile(environment, name, source_of(shelf, name, sources))

    def render(name: str, values: Mapping[str, object]) -> str:
        try:
            return _joined(compiled(name), f"{shelf.folder}/{name}", values).strip("\n")
        except failures as error:
            raise _broken(f"{shelf.folder}/{name}", name, error) from error

    return render


def _compile(environment: jinja2.Environment, name: str, source: str) -> jinja2.Template:
    from jinja2 import TemplateSyntaxError

    from engramdown.wording.rules import LONGEST, check

    if len(source) > LONGEST:
        raise TemplateSyntaxError(f"has more than {LONGEST} characters", 1, name, name)
    parsed = environment.parse(source, name, name)
    check(parsed, name)
    code = environment.compile(parsed, name, name)
    return environment.template_class.from_code(environment, code, {})


def _joined(template: jinja2.Template, path: str, values: Mapping[str, object]) -> str:
    """Return what a template says, unless it says everything again and again."""
    room = _ROOM + _TIMES * _length(values)
    chunks = []
    for chunk in template.generate(values):
        chunks.append(chunk)
        room -= len(chunk)
        if room < 0:
            raise StoreError(f"{path}: says more than {_TIMES} times what it is given; {_NEXT}")
    return "".join(chunks)


def _length(value: object) -> int:
    """Return how many characters a value holds, those of its parts added up."""
    if isinstance(value, str):
        return len(value)
    parts = value.values() if isinstance(value, Mapping) else value
    return sum(map(_length, parts)) if isinstance(parts, Iterable) else 1


def _broken(path: str, name: str, error: Exception) -> StoreError:
    import traceback

    from jinja2 import TemplateNotFound, TemplateSyntaxError

    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == name]
    line = error.lineno if isinstance(error, TemplateSyntaxError) else lines[-1] if lines else 1
    reason = str(error).partition("\n")[0] or type(error).__name__
    if isinstance(error, TemplateNotFound):
        reason = "there is no such template"
    return StoreError(f"{path}, line {line}: {reason}; {_NEXT}")
