"""``engramdown worker``: see to sessions in the background, in the foreground of a terminal.

Promises: one line for each thing that is done, handed over at once; trouble goes to stderr and
ends nothing; Ctrl-C and SIGTERM end it after the step that it is at, with exit code 0, a second
Ctrl-C at once; a dry run writes nothing and asks nobody.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from engramdown.cli import messages, output, process
from engramdown.cli import worker_messages as said
from engramdown.cli.access import open_quietly
from engramdown.cli.commands import pass_place
from engramdown.cli.layout import Line, line
from engramdown.cli.output import DONE, REFUSED, STORE_FAILED, RefusalError
from engramdown.cli.process import Place
from engramdown.clock import local

if TYPE_CHECKING:
    from engramdown import Cortex
    from engramdown.cortex.work_summary import Deed, WorkSummary


_STYLES: Final = {"empty": "dim", "idle": "where", "orphan": "where"}
_STDERR: Final = 2


@click.command()
@click.option("--once", is_flag=True, help="Do one round, and end.")
@click.option(
    "--every",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Rest so long between two rounds (default: what is set, 300).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each round.")
@click.option(
    "--dry-run", is_flag=True, help="Write nothing, ask no model; say what one round would do."
)
@pass_place
def worker(
    place: Place, /, *, once: bool, every: float | None, as_json: bool, dry_run: bool
) -> None:
    """See to sessions, round after round, until you stop it.

    It ends sessions that nobody ended. With a model it also writes the cards of those that ended,
    summarises conversations that are idle and, if `extract_facts` is set, looks for facts. Ctrl-C
    stops it after the step that it is at.
    """
    cortex = open_quietly(place, "any")
    if cortex.mode == "off":
        raise RefusalError(messages.OFF)
    pause = cortex.settings.worker.every if every is None else every
    stop = _Stop()
    working = _Working(cortex, stop, as_json=as_json, dry_run=dry_run)
    with stop.listening():
        if once or dry_run:
            raise Exit(_exit_code(working.round(last=True)))
        if output.is_person() and not as_json:
            output.fast_screen().show([line((said.begins(pause), "dim"))])
        while not stop.is_asked():
            working.round()
            stop.wait(pause)
    raise Exit(DONE)


class _Stop:
    """Whether a signal asked to stop.

    Attributes:
        at_work: Whether there is a step that is finished first.
    """

    def __init__(self) -> None:
        self.at_work = False
        self._asked = False
        # An event must not be set by a signal that comes while it is waited for; this may.
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()

    def is_asked(self) -> bool:
        """Whether to stop."""
        return self._asked

    def ask(self) -> None:
        """Ask to stop."""
        self._asked = True
        self._bell.put(None)

    def wait(self, seconds: float) -> None:
        """Wait so long, or until somebody asks to stop."""
        at_work, self.at_work = self.at_work, False
        if not self._asked:
            with contextlib.suppress(queue.Empty):
                self._bell.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        self.at_work = at_work

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Let signals ask to stop in a ``with`` block."""
        before = {number: signal.signal(number, self._hear) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, _: FrameType | None) -> None:
        if self._asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.ask()
        if self.at_work:
            # Not through sys.stderr: a signal may come while that is written to.
            with contextlib.suppress(OSError):
                os.write(_STDERR, f"{said.STOPPING}\n".encode())


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class _Working:
    """The rounds of one call."""

    def __init__(self, cortex: Cortex, stop: _Stop, *, as_json: bool, dry_run: bool) -> None:
        self._cortex = cortex
        self._stop = stop
        self._as_json = as_json
        self._dry_run = dry_run
        self._noted: list[str] = []
        self._broken: OSError | None = None

    def round(self, *, last: bool = False) -> WorkSummary:
        """Do a round, and tell of it."""
        from engramdown.cortex.worker import work_once

        if self._dry_run and not self._as_json:
            output.screen().show([line((messages.DRY_RUN, "warn"))])
        self._stop.at_work = True
        summary = work_once(
            self._cortex,
            dry_run=self._dry_run,
            should_stop=self._stop.is_asked,
            tell=self._tell,
            rest=self._stop.wait,
        )
        self._stop.at_work = False
        if self._broken is not None:
            raise self._broken
        if self._as_json:
            click.echo(json.dumps(_data(summary)))
        else:
            self._note(summary)
            if last:
                output.fast_screen().show(_ending(summary))
        process.flush()
        return summary

    def _tell(self, deed: Deed) -> None:
        if self._as_json:
            return
        try:
            output.fast_screen().show(_lines(deed))
            process.flush()
        except OSError as error:  # Nobody reads any more. What is being done is finished first.
            self._broken = error
            self._stop.ask()

    def _note(self, summary: WorkSummary) -> None:
        """Say on stderr what was not done; what lasts is said once."""
        notices = dict.fromkeys(self._cortex.notices())
        for text in (*notices, *said.notes(summary)):
            if text not in self._noted:
                output.note(text)
        if summary.failed and summary.failed not in self._noted:
            process.complain(summary.failed)
        self._noted = [*notices, *said.notes(summary), summary.failed]


def _exit_code(summary: WorkSummary) -> int:
    if summary.failed:
        return STORE_FAILED
    return REFUSED if any(deed.outcome == "failed" for deed in summary.deeds) else DONE


def _lines(deed: Deed) -> Iterator[Line]:
    style = "warn" if deed.outcome == "failed" else _STYLES.get(deed.what, "good")
    time = local(datetime.now(UTC)).strftime("%H:%M:%S")
    yield line((f"{time}  ", "dim"), (said.verb(deed), style), f": {said.about(deed)}", hang=4)
    for text in said.learned(deed):
        yield line((text, "dim"), indent=10, hang=12)


def _ending(summary: WorkSummary) -> Iterator[Line]:
    cost = said.spent(summary)
    if cost:
        yield line((cost, "dim"))
    if not (summary.deeds or summary.busy or summary.failed or summary.left or summary.stopped):
        yield line((said.NOTHING, "dim"))


def _data(summary: WorkSummary) -> dict[str, Any]:
    return {
        "dry_run": summary.dry_run,
        "stopped": summary.stopped,
        "model": summary.model,
        "spent": summary.spent._asdict(),
        "busy": summary.busy,
        "failed": summary.failed,
        "waits": summary.waits,
        "left": summary.left,
        "given_up": summary.given_up,
        "not_ours": summary.not_ours,
        "refused": summary.refused,
        "done": [
            {
                "what": deed.what,
                "session": deed.session,
                "outcome": deed.outcome,
                "text": deed.text,
                "messages": deed.messages,
                "receipts": [
                    {"action": each.action, "reason": each.reason, "id": each.id}
                    | {"text": each.engram.text, "from": each.engram.origin}
                    for each in deed.receipts
                ],
            }
            for deed in summary.deeds
        ],
    }
