"""The words that reach a model, from templates that a person may replace.

Promises: a template sees nothing but the values that it is given, in a sandbox; a broken one is
reported as a :class:`StoreError` that names it and the line; the same values give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from engramdown.errors import StoreError

__all__ = ["TEMPLATES", "Render", "renderer"]

TEMPLATES: Final = ("context.j2", "section.j2", "scratchpad.j2")
"""The templates: the whole context, one section of it, and what a scratchpad tool is told."""

Render = Callable[[str, Mapping[str, object]], str]
"""Takes the name of a template and its values, gives the words without blank lines around them."""


def renderer(overrides: Mapping[str, str]) -> Render:
    """Return what renders our templates, or those of ``overrides`` that take their place.

    Args:
        overrides: Sources by name, see :data:`TEMPLATES`; other names may be included by them.

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

    sources = dict(overrides)
    environment = ImmutableSandboxedEnvironment(
        # What is escaped for HTML is not what a person wrote; nothing here reaches a browser.
        autoescape=False,
        loader=jinja2.FunctionLoader(lambda name: _source(name, sources)),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    # What a template can raise: its own errors, and those of the expressions in it.
    failures = (
        jinja2.TemplateError,
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
    )

    def render(name: str, values: Mapping[str, object]) -> str:
        try:
            return environment.get_template(name).render(values).strip("\n")
        except failures as error:
            raise _broken(name, error) from error

    return render


def _source(name: str, overrides: Mapping[str, str]) -> tuple[str, str, None] | None:
    """Return the source of a template and the name that its errors get, as jinja wants it."""
    import pkgutil

    if name in overrides:
        return overrides[name], name, None
    if name not in TEMPLATES:
        return None
    ours = pkgutil.get_data("engramdown.cortex", f"templates/{name}") or b""
    return ours.decode("utf-8"), name, None


def _broken(name: str, error: Exception) -> StoreError:
    import traceback

    from jinja2 import TemplateNotFound

    lines = [
        (frame.filename, frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.endswith(".j2")
    ]
    file, line = lines[-1] if lines else (name, 1)
    reason = str(error).partition("\n")[0] or type(error).__name__
    if isinstance(error, TemplateNotFound):
        reason = f"there is no template {reason!r}"
    return StoreError(
        f"{file}, line {line}: {reason}; mend the template, or remove it to get our words back"
    )
