"""The words that reach a model in a conversation, from templates that a person may replace.

Promises: those of :mod:`engramdown.models.templates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from engramdown.models.templates import Render, TemplateFolder
from engramdown.models.templates import renderer as renderer_of

__all__ = ["TEMPLATES", "renderer"]

TEMPLATES: Final = (
    "context.j2",
    "section.j2",
    "skills.j2",
    "history.j2",
    "scratchpad.j2",
    "working.j2",
    "aside.j2",
)
"""The templates: the whole context, one section of it, those of skills and earlier sessions, what a
scratchpad tool is told, what comes before a conversation, and what stands behind it."""

_TEMPLATES: Final = TemplateFolder("engramdown.cortex", "templates")


def renderer(overrides: Mapping[str, str]) -> Render:
    """Return what renders our templates, or those of ``overrides`` that take their place.

    Args:
        overrides: Sources by name, see :data:`TEMPLATES`.

    Raises:
        StoreError: When rendering, if a template is none, fails, or asks for an unknown value.

    >>> renderer({"section.j2": "# {{ heading }}"})("section.j2", {"heading": "Mine"})
    '# Mine'
    """
    return renderer_of(_TEMPLATES, overrides)
