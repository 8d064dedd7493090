"""Templates that a person may replace, rendered in a sandbox.

A template sees nothing but the values that it is given; a broken one is reported as a
:class:`StoreError` that names it and the line; the same values give the same bytes.

None can run on and on, for one may stand in a stranger's project: a template that :func:`check`
lets pass goes over each value once for every ``for`` in it, and makes no text longer than a value
with fixed words between its parts; so it costs at most its own length times that of what it is
given. It may use values and their attributes, ``if``, comparisons, a few filters, and ``for`` over
a value, or over an attribute of what the loop around it goes over: ``group.lines`` inside of ``for
group in groups``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.errors import StoreError

if TYPE_CHECKING:
    import jinja2
    from jinja2 import nodes

_NEXT: Final = "mend the template, or remove it to get our words back"
# A template may say each thing several times, and have some words of its own.
_TIMES: Final = 10
_ROOM: Final = 20_000

# Takes the name of a template and its values, gives the words without blank lines around them.
Render = Callable[[str, Mapping[str, object]], str]


class TemplateFolder(NamedTuple):
    """Where templates stand.

    Attributes:
        package: The package that holds ours.
        folder: The folder, in that package and in a scope.
        say: What each value becomes where a template says it; ``None`` for nothing else.
    """

    package: str
    folder: str
    say: Callable[[object], object] | None = None


def renderer(templates: TemplateFolder, overrides: Mapping[str, str]) -> Render:
    """Return what renders our templates, or those of ``overrides`` that take their place.

    Args:
        templates: Where ours stand.
        overrides: Sources by name.

    Raises:
        StoreError: When rendering, if a template is none, fails, or asks for an unknown value.

    >>> render = renderer(TemplateFolder("engramdown", "none"), {"a.j2": "# {{ title }}"})
    >>> render("a.j2", {"title": "Mine"})
    '# Mine'
    """
    return _renderer(templates, tuple(sorted(overrides.items())))


def source_of(templates: TemplateFolder, name: str, overrides: Mapping[str, str]) -> str:
    """Return the source of a template.

    Raises:
        TemplateNotFound: If there is none, neither of ours nor in ``overrides``.
    """
    import pkgutil

    from jinja2 import TemplateNotFound

    if name in overrides:
        return overrides[name]
    try:
        ours = pkgutil.get_data(templates.package, f"{templates.folder}/{name}")
    except FileNotFoundError:
        ours = None
    if ours is None:
        raise TemplateNotFound(name)
    return ours.decode("utf-8")


@lru_cache(maxsize=32)
def _renderer(templates: TemplateFolder, overrides: tuple[tuple[str, str], ...]) -> Render:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        # What is escaped for HTML is not what a person wrote; nothing here reaches a browser.
        autoescape=False,
        finalize=templates.say,
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
        source = source_of(templates, name, sources)
        if len(source) > LONGEST:
            said = f"has more than {LONGEST} characters"
            raise jinja2.TemplateSyntaxError(said, 1, name, name)
        parsed = environment.parse(source, name, name)
        check(parsed, name)
        code = environment.compile(parsed, name, name)
        return environment.template_class.from_code(environment, code, {})

    def render(name: str, values: Mapping[str, object]) -> str:
        path = f"{templates.folder}/{name}"
        chunks = []
        try:
            room = _ROOM + _TIMES * _length(values)
            for chunk in compiled(name).generate(values):
                chunks.append(chunk)
                room -= len(chunk)
                if room < 0:
                    # It says everything again and again.
                    said = f"says more than {_TIMES} times what it is given"
                    raise StoreError(f"{path}: {said}; {_NEXT}")
        except failures as error:
            raise _broken(path, name, error) from error
        return "".join(chunks).strip("\n")

    return render


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


# How long a template may be, in characters.
LONGEST: Final = 16_000

# The filters that a template may use, besides ``join`` of a value with a fixed text: none makes a
# text much longer than it was.
FILTERS: Final = (
    *("capitalize", "count", "d", "default", "first", "last", "length", "lower", "title"),
    *("trim", "upper"),
)

# By their names, because what only says where templates stand does not load jinja.
_NODES: Final = (
    *("And", "Compare", "CondExpr", "Const", "Getattr", "If", "Keyword", "Name", "Not", "Operand"),
    *("Or", "Output", "Template", "TemplateData", "Test"),
)
_SEE: Final = "docs/library.md says what a template may use"


def check(node: nodes.Node, name: str, around: str = "") -> None:
    """Refuse a template that says more than it may.

    Args:
        node: What jinja has parsed.
        name: The name of its file, for the error.
        around: How the loop around calls what it goes over; ``""`` if there is no loop.

    Raises:
        TemplateSyntaxError: At the first thing that is not allowed.
    """
    from jinja2 import TemplateSyntaxError, nodes

    fault = ""
    if isinstance(node, nodes.Filter):
        if node.name not in FILTERS and not _joins_a_value(node):
            fault = f"the filter {node.name!r}"
    elif isinstance(node, nodes.For):
        fault = "" if _goes_once(node, around) else "this loop"
    elif type(node).__name__ not in _NODES:
        fault = repr(type(node).__name__)
    if fault:
        said = f"{fault} is not allowed here; {_SEE}"
        raise TemplateSyntaxError(said, node.lineno, name, name)
    for child in node.iter_child_nodes():
        check(child, name, _target(node) or around)


def _joins_a_value(node: nodes.Filter) -> bool:
    from jinja2 import nodes

    fixed = all(isinstance(argument, nodes.Const) for argument in node.args)
    plain = fixed and not (node.kwargs or node.dyn_args or node.dyn_kwargs)
    return node.name == "join" and plain and isinstance(node.node, nodes.Name | nodes.Getattr)


def _goes_once(loop: nodes.For, around: str) -> bool:
    """Whether a loop goes over no value again for each turn of the loop around it."""
    from jinja2 import nodes

    over = loop.iter
    if around:
        over = over.node if isinstance(over, nodes.Getattr) else nodes.Const(None)
    named = isinstance(over, nodes.Name) and over.name == (around or over.name)
    return named and _target(loop) != ""


def _target(node: nodes.Node) -> str:
    """Return how a loop calls what it goes over, or ``""``."""
    from jinja2 import nodes

    if not isinstance(node, nodes.For) or node.recursive:
        return ""
    return node.target.name if isinstance(node.target, nodes.Name) else ""
