"""Templates that a person may replace, rendered in a sandbox.

A template sees only the values that it is given. A broken one is a :class:`StoreError` that names
it and the line. The same values give the same bytes.

No template can run for ever, as one may come with a stranger's project. A template that
:func:`check` accepts walks over each value once for every ``for`` in it, and makes no text longer
than a value with fixed words between its parts; so it costs at most its own length times that of
its values. It may use values and their attributes, ``if``, comparisons, a few filters, and ``for``
over a value, or over an attribute of the item of the loop around it: ``group.lines`` inside of
``for group in groups``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from engramdown.errors import StoreError

if TYPE_CHECKING:
    import jinja2
    from jinja2 import nodes

_NEXT: Final = "fix the template, or remove it to use the default one"
# A template may repeat each value a few times, and have some words of its own.
_TIMES: Final = 10
_ROOM: Final = 20_000

# Returns the text of a template, by its name and values, without blank lines around it.
Render = Callable[[str, Mapping[str, object]], str]


class TemplateFolder(NamedTuple):
    """A folder of templates.

    Attributes:
        package: The package that holds the default ones.
        folder: The folder in that package, and in a scope.
        say: Returns the form of a value in the text; ``None`` leaves values as they are.
    """

    package: str
    folder: str
    say: Callable[[object], object] | None = None


def renderer(templates: TemplateFolder, overrides: Mapping[str, str]) -> Render:
    """Return a function that renders templates, where ``overrides`` replace the default ones.

    Args:
        templates: The folder of the default ones.
        overrides: Sources by name.

    Raises:
        StoreError: When rendering, if a template is invalid, fails, or uses an unknown value.

    >>> render = renderer(TemplateFolder("engramdown", "none"), {"a.j2": "# {{ title }}"})
    >>> render("a.j2", {"title": "Mine"})
    '# Mine'
    """
    return _renderer(templates, tuple(sorted(overrides.items())))


def source_of(templates: TemplateFolder, name: str, overrides: Mapping[str, str]) -> str:
    """Return the source of a template.

    Raises:
        TemplateNotFound: If there is neither a default one nor one in ``overrides``.
    """
    import pkgutil

    from jinja2 import TemplateNotFound

    if name in overrides:
        return overrides[name]
    try:
        data = pkgutil.get_data(templates.package, f"{templates.folder}/{name}")
    except FileNotFoundError:
        data = None
    if data is None:
        raise TemplateNotFound(name)
    return data.decode("utf-8")


@lru_cache(maxsize=32)
def _renderer(templates: TemplateFolder, overrides: tuple[tuple[str, str], ...]) -> Render:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        # Escaping for HTML would change what a person wrote, and nothing here reaches a browser.
        autoescape=False,
        finalize=templates.say,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals.clear()
    sources = dict(overrides)
    # The errors that a template can raise, including those of its expressions.
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
                    reason = f"is more than {_TIMES} times as long as its values"
                    raise StoreError(f"{path}: {reason}; {_NEXT}")
        except failures as error:
            raise _broken(path, name, error) from error
        return "".join(chunks).strip("\n")

    return render


def _length(value: object) -> int:
    """Return how many characters a value and its parts hold together."""
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


# The greatest length of a template, in characters.
LONGEST: Final = 16_000

# The filters that a template may use, besides ``join`` of a value with a fixed text. None of them
# makes a text much longer.
FILTERS: Final = (
    *("capitalize", "count", "d", "default", "first", "last", "length", "lower", "title"),
    *("trim", "upper"),
)

# By their names, so that naming a folder of templates does not load jinja.
_NODES: Final = (
    *("And", "Compare", "CondExpr", "Const", "Getattr", "If", "Keyword", "Name", "Not", "Operand"),
    *("Or", "Output", "Template", "TemplateData", "Test"),
)
_SEE: Final = "docs/library.md says what a template may use"


def check(node: nodes.Node, name: str, around: str = "") -> None:
    """Refuse a template that uses more than it may.

    Args:
        node: A node of the parsed template.
        name: The name of its file, for the error.
        around: The name of the item of the loop around it; ``""`` outside of loops.

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
    """Whether a loop walks over no value again for each turn of the loop around it."""
    from jinja2 import nodes

    over = loop.iter
    if around:
        over = over.node if isinstance(over, nodes.Getattr) else nodes.Const(None)
    named = isinstance(over, nodes.Name) and over.name == (around or over.name)
    return named and _target(loop) != ""


def _target(node: nodes.Node) -> str:
    """Return the name of a loop's item, or ``""``."""
    from jinja2 import nodes

    if not isinstance(node, nodes.For) or node.recursive:
        return ""
    return node.target.name if isinstance(node.target, nodes.Name) else ""
