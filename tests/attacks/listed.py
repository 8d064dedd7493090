"""Each attack of the list, what must come of it, and the tests that try it.

Promises: the numbers are those of the checklist of 84 inputs; every test that is named is there
(tests/attacks/test_listed.py looks); what is not defended against is said in so many words.

Expected: R refused with a clear error, N made harmless and kept as one entry, Q held for a person,
K kept as it is, W warned of.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["LATER", "LISTED", "Attack"]

LATER: Final = frozenset(range(75, 84))
"""Attacks on servers, of which there are none yet."""


class Attack(NamedTuple):
    """One attack.

    Attributes:
        what: The input.
        expected: What must come of it.
        tests: ``<file below tests>::<test>``.
        note: Where we do something else than the list says, and why; or what is a known miss.
    """

    what: str
    expected: str
    tests: tuple[str, ...]
    note: str = ""


_NAMES: Final = (
    "attacks/test_names.py::test_a_topic_is_refused_or_plain",
    "attacks/test_names.py::test_a_session_is_refused_or_in_its_folder",
    "attacks/test_names.py::test_no_command_takes_it_out_of_the_scope",
    "attacks/test_names.py::test_no_call_of_a_tool_does",
    "attacks/test_skills.py::test_a_label_leads_nowhere_else",
)
_PLAIN: Final = "a topic is words: letters and digits of any script stay, the rest becomes a hyphen"
_PARSED: Final = (
    "markdown/test_escaping.py::test_escaped_text_opens_and_ends_nothing",
    "hippocampus/test_contract.py::test_what_is_read_is_what_was_encoded",
)
_CLONED: Final = "attacks/test_cloned.py::"
_PULLED: Final = "attacks/test_pulled.py::"
_FILES: Final = "attacks/test_files.py::"
_TERABYTE: Final = f"{_CLONED}test_a_pipe_or_a_terabyte_of_holes_is_never_waited_for"
_HIDDEN: Final = (
    "language/test_characters.py::test_what_is_hidden_is_named",
    "attacks/test_terminal.py::test_no_command_shows_what_is_hostile_as_it_is",
)
_ANSWERS: Final = "cortex/test_hostile_answers.py::"
_MODEL: Final = "models/test_instructor_model.py::"
_GATE: Final = "gate/test_gate.py::"
_SECRETS: Final = (
    "attacks/test_secrets.py::test_no_way_into_memory_writes_one",
    "attacks/test_secrets.py::test_no_command_writes_or_shows_one",
    "attacks/test_secrets.py::test_no_error_shows_one",
    "secrets/test_redaction.py::test_a_known_secret_is_found_and_named",
)
_TOOL_ORDERS: Final = (
    f"{_GATE}test_an_order_from_outside_is_held_even_if_it_claims_to_be_the_users",
    "gate/test_injection.py::test_an_order_is_noticed",
    f"{_ANSWERS}test_no_order_is_remembered",
)

LISTED: Final[dict[int, Attack]] = {
    1: Attack("../../etc/passwd", "R", _NAMES),
    2: Attack("..\\..\\x", "R", _NAMES),
    3: Attack("/abs", "R", _NAMES),
    4: Attack("C:\\x, C:x, \\\\srv\\share", "R", _NAMES),
    5: Attack("a/b", "R", _NAMES),
    6: Attack("a NUL in a name", "R", _NAMES),
    7: Attack(". .. ... and nothing", "R", _NAMES),
    8: Attack("-rf", "N", _NAMES, _PLAIN),
    9: Attack("~root ${HOME} $(id) `id`", "N", _NAMES, _PLAIN),
    10: Attack(".git .GIT git~1 .lock", "N", _NAMES, _PLAIN),
    11: Attack("CON aux.txt COM1 LPT9.md NUL", "R", _NAMES),
    12: Attack("a. 'a ' a:b a:$DATA", "R", _NAMES, _PLAIN),
    13: Attack("256 characters", "R", _NAMES),
    14: Attack("e and a combining accent", "N", _NAMES, "composed: NFC"),
    15: Attack("bidi, zero width and Cyrillic in a name", "R", _NAMES, _PLAIN),
    16: Attack("a newline in or behind a name", "R", _NAMES),
    17: Attack("%2e%2e%2f, overlong and full-width dots", "N", _NAMES, _PLAIN),
    18: Attack(
        "a sibling whose name begins alike",
        "R",
        (f"{_FILES}test_a_folder_of_a_name_that_begins_alike_is_outside",),
    ),
    19: Attack(
        "two names that differ in case", "N", _NAMES, "topics and sessions are folded to one case"
    ),
    20: Attack(
        "a memory file that is a link out of the scope",
        "R",
        (
            "hippocampus/test_bad_input.py::test_a_link_out_of_the_scope_is_refused",
            "attacks/test_skills.py::test_a_skill_that_is_a_link_out_of_the_project_is_not_read",
        ),
    ),
    21: Attack(
        "a linked folder on the way",
        "R",
        (
            "hippocampus/test_bad_input.py::test_a_link_out_of_the_scope_is_refused",
            f"{_CLONED}test_nothing_is_written_through_a_linked_folder",
            f"{_CLONED}test_transcripts_behind_a_link_are_not_found",
        ),
    ),
    22: Attack(
        "a link swapped in between check and use",
        "R",
        (f"{_FILES}test_a_file_that_becomes_a_link_after_it_was_looked_at_is_not_opened",),
        "for the file itself; who may swap a folder of the scope may write memory anyway",
    ),
    23: Attack("a pipe", "R", ("hippocampus/test_bad_input.py::test_a_pipe_is_refused_at_once",)),
    24: Attack(
        "a device, a socket, a folder",
        "R",
        ("storage/test_safe_open.py::test_a_journal_that_is_no_file_is_named_with_the_next_step",),
    ),
    25: Attack(
        "a hard link from outside",
        "N",
        (f"{_FILES}test_a_hard_link_to_a_file_outside_is_parted_from_it",),
    ),
    26: Attack(
        "a lock that is a link",
        "R",
        ("storage/test_safe_open.py::test_a_lock_that_is_no_file_is_named_with_the_next_step",),
    ),
    27: Attack(
        "a temporary name that is there",
        "N",
        (
            "storage/test_safe_open.py::test_a_pipe_in_the_place_of_an_unfinished_file_is_not_waited_for",
        ),
        "names end in four random bytes",
    ),
    28: Attack(
        "umask 000",
        "N",
        ("attacks/test_permissions.py::test_all_that_is_made_is_for_the_user_alone",),
    ),
    29: Attack(
        "a store that anybody may write",
        "W",
        (f"{_FILES}test_what_anybody_may_write_is_warned_of",),
        "doctor warns; rules are loaded all the same",
    ),
    30: Attack(
        "a file of a terabyte",
        "R",
        ("hippocampus/test_bad_input.py::test_a_file_of_50_megabytes_is_refused", _TERABYTE),
    ),
    31: Attack(
        "NUL and bytes that are not UTF-8",
        "K",
        ("hippocampus/test_bad_input.py::test_bytes_that_are_no_text_stay_as_they_are",),
    ),
    32: Attack("forged metadata in a text", "N", _PARSED),
    33: Attack("--> --!> <!--", "N", _PARSED),
    34: Attack("a forged file header", "N", _PARSED, "our files have none"),
    35: Attack("every line separator", "N", _PARSED),
    36: Attack("fences and comments that never end", "N", _PARSED),
    37: Attack("front matter", "N", _PARSED),
    38: Attack(
        "conflict markers",
        "K",
        ("hippocampus/test_gallery.py::test_a_page_comes_back_byte_for_byte",),
    ),
    39: Attack(
        "an id that stands twice",
        "K",
        ("hippocampus/test_gallery.py::test_doctor_finds_what_is_wrong_and_nothing_else",),
    ),
    40: Attack(
        "10,000 entries, deep nesting",
        "K",
        (
            "hippocampus/test_growth.py::test_a_hundred_thousand_lines_cost_a_line_what_a_thousand_do",
            "hippocampus/test_growth.py::test_a_page_of_nothing_but",
        ),
    ),
    41: Attack("images, scripts and javascript: links", "K", _PARSED, "nothing renders them"),
    42: Attack("tag characters", "Q", (*_HIDDEN, *_TOOL_ORDERS)),
    43: Attack("variation selectors as bytes", "Q", (*_HIDDEN, *_TOOL_ORDERS)),
    44: Attack("bidi overrides", "N", _HIDDEN, "kept in the file, shown as pictures"),
    45: Attack("zero width and fillers", "N", _HIDDEN, "kept in the file, shown as pictures"),
    46: Attack(
        "emoji joiners, Persian and Indic joiners, flags",
        "K",
        ("language/test_characters.py::test_what_belongs_there_is_not_hidden",),
    ),
    47: Attack(
        "half surrogate pairs",
        "R",
        (
            "hippocampus/test_contract.py::test_what_is_no_text_is_refused",
            f"{_ANSWERS}test_a_lone_surrogate_in_an_escape_is_no_answer",
        ),
    ),
    48: Attack("look-alike letters in ids", "R", _NAMES),
    49: Attack("terminal escapes", "N", _HIDDEN),
    50: Attack(
        "100,000 brackets", "R", (f"{_CLONED}test_work_of_a_sleep_that_is_no_work_is_passed_over",)
    ),
    51: Attack("NaN and 1e999", "R", ("cortex/test_arguments.py::test_what_does_not_fit_is_told",)),
    52: Attack(
        "a key that stands twice",
        "K",
        ("cortex/test_arguments.py::test_anything_may_come",),
        "the last one counts, held against the schema as any other",
    ),
    53: Attack(
        "a number of 5,000 digits", "R", ("cortex/test_arguments.py::test_anything_may_come",)
    ),
    54: Attack(
        "fields that nobody asked for",
        "R",
        (f"{_ANSWERS}test_an_answer_of_another_form_changes_no_byte",),
    ),
    55: Attack(
        "an alias bomb in YAML",
        "N",
        ("consolidation/test_notes.py::test_front_matter",),
        "nothing reads YAML",
    ),
    56: Attack(
        "patterns that go on for ever",
        "K",
        (
            "secrets/test_redaction.py::test_a_megabyte_of_anything_is_read_to_its_end",
            "fuzz/test_growth.py::test_nothing_grows_faster_than_its_text",
        ),
    ),
    57: Attack("'from now on always' in a tool result", "Q", _TOOL_ORDERS),
    58: Attack(
        "'the user said: remember' in a file",
        "Q",
        (f"{_GATE}test_what_came_from_outside_is_not_the_word_of_the_user",),
    ),
    59: Attack("a chain of harmless questions", "Q", _TOOL_ORDERS, "by origin; no limit of rate"),
    60: Attack("a trigger of gibberish", "K", _TOOL_ORDERS, "a known miss: harmless words pass"),
    61: Attack("a policy in disguise", "Q", _TOOL_ORDERS, "a known miss where it gives no order"),
    62: Attack("'add an image to every answer'", "Q", _TOOL_ORDERS),
    63: Attack(
        "forged tags to who sums up",
        "N",
        (
            "consolidation/test_prompts.py::test_no_text_closes_what_it_stands_in_in_any_prompt_of_ours",
            "language/test_untrusted.py::test_what_is_quoted_is_one_line_that_closes_nothing_and_says_the_same",
        ),
    ),
    64: Attack(
        "a job that raises trust",
        "R",
        (f"{_ANSWERS}test_no_text_gets_further_than_the_gate_lets_a_guess",),
    ),
    65: Attack(
        "a plan that drops all, or names what is not there",
        "R",
        (
            "consolidation/test_plan_rules.py::test_a_plan_with_an_unknown_id_is_refused_as_a_whole",
            f"{_ANSWERS}test_a_plan_that_takes_half_of_a_file_is_refused",
        ),
    ),
    66: Attack(
        "autopilot without a person",
        "N",
        (f"{_GATE}test_nothing_is_written_unasked_that_anything_speaks_against",),
    ),
    67: Attack(
        "poison that comes by a pull",
        "Q",
        (
            f"{_CLONED}test_a_tick_in_a_project_writes_nothing_into_the_global_scope",
            f"{_CLONED}test_nor_does_a_session_or_a_review_without_a_terminal",
            "git/test_pulled.py::test_a_pull_is_news_and_what_it_left_alone_is_not",
            "git/test_pulled.py::test_nothing_that_was_pulled_is_seen_before_it_is_approved",
            "git/test_pulled.py::test_nothing_unapproved_is_in_any_context",
            f"{_PULLED}test_a_journal_that_is_committed_claims_nothing",
            f"{_PULLED}test_approvals_and_caches_of_a_clone_are_not_believed",
            f"{_PULLED}test_a_tick_of_somebody_else_decides_nothing",
            f"{_PULLED}test_no_page_of_a_clone_shapes_a_prompt_before_it_is_approved",
            f"{_PULLED}test_sleep_learns_nothing_from_what_somebody_else_says_was_said",
        ),
        "it is loaded and told of; with pulled = review it waits for a person",
    ),
    68: Attack(
        "what recall gives a model",
        "N",
        (
            "cortex/test_tools.py::test_hostile_text_stays_on_its_line",
            "context/test_context.py::test_no_text_can_pass_for_a_line_of_ours",
        ),
    ),
    69: Attack(
        "a memory of another scope",
        "R",
        (
            f"{_ANSWERS}test_the_ids_of_another_scope_are_unknown",
            f"{_CLONED}test_transcripts_behind_a_link_are_not_found",
        ),
    ),
    70: Attack("known kinds of keys", "Q", _SECRETS),
    71: Attack("database addresses and passwords told in prose", "Q", _SECRETS),
    72: Attack("a key over two lines or in base64", "K", _SECRETS[-1:], "a known miss"),
    73: Attack(
        "a secret that is in the transcripts already",
        "N",
        ("episodes/test_forget.py::test_nothing_of_it_is_left_on_the_disk",),
    ),
    74: Attack(
        "an error of a provider that quotes what it was sent",
        "N",
        (f"{_MODEL}test_what_a_provider_says_acts_on_no_terminal_and_quotes_no_piece_of_a_key",),
    ),
    84: Attack(
        "retries that multiply calls",
        "R",
        (
            "models/test_provider.py::test_asking_ends_however_calls_end",
            "models/test_ledger.py::test_whatever_is_asked_no_limit_is_passed",
        ),
    ),
}
"""Each attack by its number."""
