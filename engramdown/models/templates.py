"""Templates that a person may replace, rendered in a sandbox.

Promises: a template sees nothing but the values that it is given, and does nothing that could run
on and on; a broken one is reported as a :class:`StoreError` that names it and the line; the same
values give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from jinja2 import nodes

from engramdown.errors import StoreError

if TYPE_CHECKING:
    import jinja2

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


# What a template may say, so that one in a stranger's project cannot run on and on.
#
# Promises: a template that :func:`check` lets pass goes over each value once for every ``for`` in
# it, and makes no text longer than a value with fixed words between its parts; so it costs at most
# its own length times that of what it is given. Nothing of it is run.
#
# A template may use values and their attributes, ``if``, comparisons, a few filters, and ``for``
# over a value, or over an attribute of what the loop around it goes over: ``group.lines`` inside of
# ``for group in groups``.

LONGEST: Final = 16_000
"""How long a template may be, in characters."""

FILTERS: Final = (
    *("capitalize", "count", "d", "default", "first", "last", "length", "lower", "title"),
    *("trim", "upper"),
)
"""The filters that a template may use, besides ``join`` of a value with a fixed text: none makes a
text much longer than it was."""

_NODES: Final = (
    *(nodes.And, nodes.Compare, nodes.CondExpr, nodes.Const, nodes.Getattr, nodes.If),
    *(nodes.Keyword, nodes.Name, nodes.Not, nodes.Operand, nodes.Or, nodes.Output),
    *(nodes.Template, nodes.TemplateData, nodes.Test),
)
_SEE: Final = "docs/library.md says what a template may use"


def check(template: nodes.Template, name: str) -> None:
    """Refuse a template that says more than it may.

    Args:
        template: What jinja has parsed.
        name: The name of its file, for the error.

    Raises:
        TemplateSyntaxError: At the first thing that is not allowed.
    """
    _check(template, "", name)


def _check(node: nodes.Node, around: str, name: str) -> None:
    """Check a node inside of a loop that calls ``around`` what it goes over; ``""`` is no loop."""
    from jinja2 import TemplateSyntaxError

    complaint = _complaint(node, around)
    if complaint:
        raise TemplateSyntaxError(f"{complaint}; {_SEE}", node.lineno, name, name)
    inside = _target(node) or around
    for child in node.iter_child_nodes():
        _check(child, inside, name)


def _complaint(node: nodes.Node, around: str) -> str:
    if isinstance(node, nodes.Filter):
        fine = node.name in FILTERS or _joins_a_value(node)
        return "" if fine else f"the filter {node.name!r} is not allowed here"
    if isinstance(node, nodes.For):
        return "" if _goes_once(node, around) else "this loop is not allowed here"
    return "" if isinstance(node, _NODES) else f"{type(node).__name__!r} is not allowed here"


def _joins_a_value(node: nodes.Filter) -> bool:
    fixed = all(isinstance(argument, nodes.Const) for argument in node.args)
    plain = fixed and not (node.kwargs or node.dyn_args or node.dyn_kwargs)
    return node.name == "join" and plain and isinstance(node.node, nodes.Name | nodes.Getattr)


def _goes_once(loop: nodes.For, around: str) -> bool:
    """Whether a loop goes over no value again for each turn of the loop around it."""
    over = loop.iter
    if around:
        over = over.node if isinstance(over, nodes.Getattr) else nodes.Const(None)
    named = isinstance(over, nodes.Name) and over.name == (around or over.name)
    return named and _target(loop) != ""


def _target(node: nodes.Node) -> str:
    """Return how a loop calls what it goes over, or ``""``."""
    if not isinstance(node, nodes.For) or node.recursive:
        return ""
    return node.target.name if isinstance(node.target, nodes.Name) else ""
