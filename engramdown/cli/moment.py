"""A day or a time that a person gives to an option.

Promises: it is of the person's clock, unless it names a zone; loads nothing until one is given.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

import click

_DAY: Final = "%Y-%m-%d"
_TIMES: Final = (_DAY, "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")
_NONE: Final = timedelta()


class Moment(click.ParamType[str]):
    """A day or a time of the person's clock, as a line of a transcript says it."""

    name = "date"

    def __init__(self, *, end: bool = False) -> None:
        """Take a day for its first moment, or for its last if ``end``."""
        self._end = end

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the moment in UTC."""
        from engramdown.clock import local
        from engramdown.transcripts.episode import stamp

        text = str(value)
        for form in _TIMES:
            try:
                moment = datetime.strptime(text, form)  # noqa: DTZ007 - of the person's clock
                last = timedelta(days=1, microseconds=-1) if form == _DAY and self._end else _NONE
                # Not before: a day on which the clock is changed has 23 or 25 hours.
                return stamp(local(moment + last))
            except (ValueError, OverflowError):
                continue
        # As programs write it, with seconds and a zone; a day alone is of the person's clock.
        if ":" in text:
            with suppress(ValueError, OverflowError):
                return stamp(local(datetime.fromisoformat(text)))
        return self.fail(f'{text!r} is no date; write 2026-02-27 or "2026-02-27 10:15"', param, ctx)
