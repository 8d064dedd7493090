"""What a template may say, so that one in a stranger's project cannot run on and on.

Promises: a template that :func:`check` lets pass goes over each value once for every ``for`` in
it, and makes no text longer than a value with fixed words between its parts; so it costs at most
its own length times that of what it is given. Nothing of it is run.

A template may use values and their attributes, ``if``, comparisons, a few filters, and ``for``
over a value, or over an attribute of what the loop around it goes over: ``group.lines`` inside of
``for group in groups``.
"""

from __future__ import annotations

from typing import Final

from jinja2 import TemplateSyntaxError, nodes

__all__ = ["FILTERS", "LONGEST", "check"]

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
