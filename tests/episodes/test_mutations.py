"""Deliberate bugs in what records, each of which a named law catches with one example."""

from __future__ import annotations

from typing import Final

import pytest

from tests.mutants import Bug, mutated

# In the order of their imports. What is not named here is the real one.
RECORDING: Final = (
    "engramdown.transcripts.episode",
    "engramdown.storage.locks",
    "engramdown.transcripts.payloads",
    "engramdown.transcripts.session_log",
    "engramdown.episodes.recorder",
    "engramdown.episodes.memory",
    "tests.episodes.laws",
)
STRANGE: Final = (
    b'{"seq":3,"ts":"2026-02-27T10:15:00.123456Z","id":"x","role":"user","text":"a","new":[1]}\n'
)

BUGS: Final = (
    Bug(
        "two halves of a character stay two",
        "transcripts.episode",
        'return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")',
        "return text",
        lambda core: core.a_text_comes_back("\ud83d\ude00"),
    ),
    Bug(
        "a half of a character cannot be written",
        "transcripts.episode",
        "        return _ESCAPED.encode(record).encode()",
        '        return _ESCAPED.encode(record).encode("utf-16")',
        lambda core: core.a_text_comes_back("\ud83d!"),
    ),
    Bug(
        "what is no number is written as one",
        "transcripts.episode",
        "_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False,",
        "_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=True,",
        lambda core: core.anything_can_be_kept(float("nan")),
    ),
    Bug(
        "no time at all is left out",
        "transcripts.episode",
        "    return value is not None and value is not False",
        "    return bool(value)",
        lambda core: core.a_line_says_what_it_is_given("ms", 0),
    ),
    Bug(
        "what is not known is dropped",
        "transcripts.episode",
        "            more[key] = value",
        "            pass",
        lambda core: core.unknown_keys_come_back(STRANGE),
    ),
    Bug(
        "a text of just that length is said to be cut",
        "transcripts.episode",
        "if len(text) > limit else",
        "if len(text) >= limit else",
        lambda core: core.a_part_is_a_part("naïve", 5),
    ),
    Bug(
        "a time is taken as it stands",
        "transcripts.episode",
        "known.astimezone(UTC)",
        "known",
        lambda core: core.a_zone_is_carried_over(
            "2026-02-27T10:15:00+01:00", "2026-02-27T09:15:00.000000Z"
        ),
    ),
    Bug(
        "a device with an ending is a name",
        "transcripts.episode",
        'if value.partition(".")[0] in _DEVICES:',
        "if value in _DEVICES:",
        lambda core: core.a_name_is_safe_or_refused("aux.txt", safe=False),
    ),
    Bug(
        "a dot at the end is kept",
        "transcripts.episode",
        'if value.endswith("."):',
        "if False:",
        lambda core: core.a_name_is_safe_or_refused("a.", safe=False),
    ),
    Bug(
        "only the beginning of a name is looked at",
        "transcripts.episode",
        "_ALLOWED.fullmatch(value)",
        "_ALLOWED.match(value)",
        lambda core: core.a_name_is_safe_or_refused("a/../../x", safe=False),
    ),
    Bug(
        "ids sort by chance",
        "transcripts.episode",
        "return _time(milliseconds) + _digits(number, _RANDOM_DIGITS)",
        "return _digits(number, _RANDOM_DIGITS) + _time(milliseconds)",
        lambda core: core.ids_sort_by_time(1, 2),
    ),
    Bug(
        "a lock without a name is good enough",
        "storage.locks",
        "not self._disk.is_named(self._descriptor)",
        "False",
        lambda core: core.a_lock_that_was_removed_is_not_trusted(),
    ),
    Bug(
        "a payload that was changed is handed out",
        "transcripts.payloads",
        " or _digest(data) != name",
        "",
        lambda core: core.a_payload_is_whole_or_nothing(),
    ),
    Bug(
        "a payload without its end is there",
        "transcripts.payloads",
        "self._disk.load(path) == data",
        "self._disk.find(path) is not None",
        lambda core: core.a_payload_is_whole_or_nothing(),
    ),
    Bug(
        "a payload whose line is never written is not found again",
        "transcripts.payloads",
        "        self._note(name, begun)\n",
        "",
        lambda core: core.a_payload_is_noted_until_a_line_points_to_it(),
    ),
    Bug(
        "what a line needs is looked at before anybody else stops writing",
        "transcripts.session_log",
        """        with self._lock.hold(timeout):
            return self._append(lines, start, prepare)""",
        """        prepare()
        with self._lock.hold(timeout):
            return self._append(lines, start)""",
        lambda core: core.what_is_prepared_is_done_while_nobody_writes(),
    ),
    Bug(
        "a note of trouble is passed over",
        "episodes.recorder",
        "if not (name.startswith(_BEFORE) and",
        "if (name.startswith(_BEFORE) and",
        lambda core: core.recording_never_fails_in_silence(2),
    ),
    Bug(
        "what others appended is not looked at",
        "transcripts.session_log",
        "if found.st_size != self._end:",
        "if False:",
        lambda core: core.writers_in_turn_lose_nothing("abab"),
    ),
    Bug(
        "several lines count as one",
        "transcripts.session_log",
        "self._next += len(whole)",
        "self._next += 1",
        lambda core: core.writers_in_turn_lose_nothing("aa"),
    ),
    Bug(
        "a torn line is dropped",
        "transcripts.session_log",
        "            self._set_aside(tail)\n",
        "",
        lambda core: core.a_torn_end_is_set_aside(b'{"seq":2,"ts":"20'),
    ),
    Bug(
        "a torn line stays in the file",
        "transcripts.session_log",
        "            self._disk.truncate_open(descriptor, size - len(tail))\n",
        "",
        lambda core: core.a_torn_end_is_set_aside(b'{"seq":2,"ts":"20'),
    ),
    Bug(
        "a file that was replaced is written on",
        "transcripts.session_log",
        " or _inode(found) != self._inode",
        "",
        lambda core: core.a_replaced_file_is_gone_on_with(),
    ),
    Bug(
        "half a line is not taken back",
        "transcripts.session_log",
        "self._disk.truncate_open(descriptor, self._end)",
        "pass",
        lambda core: core.a_failed_write_leaves_nothing(20),
    ),
    Bug(
        "what must be synced is not",
        "transcripts.session_log",
        "self._disk.sync_open(descriptor)",
        "pass",
        lambda core: core.what_is_synced_is_acknowledged(),
    ),
    Bug(
        "what people say is cut as well",
        "transcripts.payloads",
        "if role not in TOOL_ROLES:",
        "if False:",
        lambda core: core.nothing_that_was_said_is_cut("user"),
    ),
    Bug(
        "the whole of what is cut is not kept",
        "transcripts.payloads",
        "(digest(text), text) if keep",
        "(digest(text), beginning) if keep",
        lambda core: core.nothing_that_was_said_is_cut("tool_result"),
    ),
    Bug(
        "what was written waits on",
        "episodes.recorder",
        "                del self._waiting[session]\n",
        "",
        lambda core: core.recording_never_fails_in_silence(2),
    ),
    Bug(
        "others are told of the first failure only",
        "episodes.recorder",
        "        _IN_TROUBLE.add(self)\n        self._mark()\n",
        "        if self not in _IN_TROUBLE:\n            self._mark()\n"
        "        _IN_TROUBLE.add(self)\n",
        lambda core: core.recording_never_fails_in_silence(2),
    ),
    Bug(
        "a failure is not counted",
        "episodes.recorder",
        "        self.failures += 1\n        self._reason",
        "        self._reason",
        lambda core: core.recording_never_fails_in_silence(1),
    ),
    Bug(
        "a session in trouble begins without its title",
        "episodes.recorder",
        "self._waiting.setdefault(session, _Waiting()).start = line",
        "self._waiting.setdefault(session, _Waiting())",
        lambda core: core.a_session_in_trouble_keeps_its_title(),
    ),
    Bug(
        "what comes after a loss is put before it",
        "episodes.recorder",
        "if waiting.lost or full:",
        "if full:",
        lambda core: core.what_a_queue_cannot_hold_is_told(9 << 20),
    ),
    Bug(
        "a loss is not told",
        "episodes.recorder",
        "                items.append(Item(self._lost(waiting.lost, self._reason)))\n",
        "                pass\n",
        lambda core: core.what_a_queue_cannot_hold_is_told(9 << 20),
    ),
    Bug(
        "any name is a file",
        "episodes.memory",
        "self._checked = check_session_id(session)",
        "self._checked = session",
        lambda core: core.what_is_refused_is_told("../x"),
    ),
    Bug(
        "what was refused is missing from the transcript",
        "episodes.memory",
        "                self.recorder.put(session, Item(self._lost_line(1, reason)))\n",
        "                pass\n",
        lambda core: core.what_is_refused_is_told("s"),
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.what.replace(" ", "-"))
def test_a_law_catches_this_bug(bug: Bug) -> None:
    with mutated(RECORDING, bug) as core, pytest.raises(AssertionError):
        bug.law(core)


@pytest.mark.slow
def test_every_law_holds_without_a_bug() -> None:
    with mutated(RECORDING, None) as core:
        for bug in BUGS:
            bug.law(core)


def test_every_module_has_a_bug() -> None:
    tested = {f"engramdown.{bug.module}" for bug in BUGS}
    assert tested == {name for name in RECORDING if name.startswith("engramdown.")}
