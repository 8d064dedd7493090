"""Secrets are found and hidden; what looks like one is left alone.

Every secret in here is put together when a test asks for it.
"""

from __future__ import annotations

import base64
import random
import sysconfig
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engramdown.secrets import redaction
from engramdown.secrets.assignments import Span
from engramdown.secrets.redaction import Secret, find_secrets, redact, secret_in
from tests.corpora import secrets_held_out, secrets_marked, secrets_seen, secrets_tuning
from tests.corpora.pieces import ALNUM, BASE64, HEX, Planted, chars, key_lines
from tests.corpora.secrets_marked import Marked
from tests.tables import every

TUNING: Final = secrets_tuning.planted()
SEEN: Final = secrets_seen.planted()
HELD_OUT: Final = secrets_held_out.planted()
HARMLESS: Final = secrets_tuning.harmless() + secrets_seen.harmless()

GITHUB: Final = "ghp_" + chars("redaction/github", ALNUM, 36)
BEGIN: Final = "-----BEGIN " + "PRIVATE KEY-----"
END: Final = "-----END " + "PRIVATE KEY-----"

PARTS: Final = [
    *(planted.text for planted in TUNING),
    *(planted.value for planted in TUNING),
    *("[redacted: ", "[redacted: token]", "]", "password", "token", "my password is ", " is ", "="),
    *(": ", '"', "'", "`", "\\", "://", "@", "sk-", "eyJ", ".", "\n", " ", "-----", BEGIN, END),
    *("AKIA", "Bearer ", "--token ", "<password>", "</password>", "_auth=", "é", "\ud800", "\0"),
    *("\u200b", "\xad", "\u0301", "\uff47hp_", "\u2026", "\xbd", "\x1b[31m", "\x1b", "\\n"),
    *("Das Passwort lautet ", "clé d'accès : ", "PIN: 4711", "aGVsbG8gd29ybGQ="),
    *(base64.b64encode(planted.text.encode()).decode() for planted in TUNING[:9]),
]
TEXTS: Final = st.lists(st.sampled_from(PARTS) | st.text(max_size=8), max_size=12).map("".join)


WIDE: Final = {ord(one): ord(one) + 0xFEE0 for one in GITHUB}


def is_hidden(planted: Planted) -> bool:
    return not planted.is_left_in(redact(planted.text))


@every("planted", TUNING, ids=lambda planted: planted.kind)
def test_a_known_secret_is_found_and_named(planted: Planted) -> None:
    assert is_hidden(planted)
    assert planted.kind in {secret.kind for secret in find_secrets(planted.text)}


@every("text", HARMLESS)
def test_a_look_alike_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []
    assert redact(text) == text


# A change of these figures is a change of what README.md may say: benchmarks/secrets.py.
@pytest.mark.parametrize(
    "corpus, found",
    [pytest.param(SEEN, 102, id="seen-103"), pytest.param(HELD_OUT, 99, id="held-out-102")],
)
def test_secrets_from_other_templates_are_found(corpus: list[Planted], found: int) -> None:
    assert sum(map(is_hidden, corpus)) >= found


def test_look_alikes_from_other_templates_are_left_alone() -> None:
    alarms = [text for text in secrets_held_out.harmless() if find_secrets(text)]
    assert len(alarms) <= 1


def missed(texts: list[Marked]) -> list[str]:
    """Return the texts in which not every character of every secret is found."""
    return [
        text.text
        for text in texts
        if not text.is_hidden_by((each.start, each.end) for each in find_secrets(text.text))
    ]


# A change of these figures is a change of what docs/gate.md may say: benchmarks/secrets.py.
@pytest.mark.parametrize(
    "name, left",
    [
        ("tuned", 0),
        ("seen", 0),
        ("held_out", 3),
        ("stranger", 0),
        ("unseen", 2),
        ("everyday", 11),
        ("fresh", 14),
    ],
)
def test_secrets_in_seven_languages_and_in_disguise_are_found(
    name: Literal["tuned", "seen", "held_out", "stranger", "unseen", "everyday", "fresh"],
    left: int,
) -> None:
    planted, harmless = secrets_marked.read(name)
    assert len(missed(planted)) == left
    assert [text.text for text in harmless if find_secrets(text.text)] == []
    assert {text.lang for text in planted} == {"en", "de", "fr", "es", "it", "pt", "nl"}
    assert len(planted) >= 80
    assert len(harmless) >= 80


REST: Final = chars("redaction/rest", ALNUM, 20)
WRAPPED: Final = GITHUB[:20]


@every(
    "text, shown",
    [
        pytest.param(f"é {GITHUB[:9]}\u200b{GITHUB[9:]}\u200b.", "é {}\u200b.", id="unseen"),
        pytest.param(f"{GITHUB[:2]}\xad\xad{GITHUB[2:]}, é", "{}, é", id="soft-hyphens"),
        pytest.param(f"½ {GITHUB.translate(WIDE)} ½", "½ {} ½", id="full-width"),
        pytest.param(f"\x1b[1m{GITHUB}\x1b[0m x", "\x1b[1m{}\x1b[0m x", id="in-colour"),
        pytest.param(f"\x1b{GITHUB}", "\x1b{}", id="escape-alone"),
    ],
)
def test_a_text_is_looked_at_as_it_reads(text: str, shown: str) -> None:
    assert redact(text) == shown.replace("{}", "[redacted: GitHub token]")


def test_a_character_that_stands_for_many_is_hidden_whole() -> None:
    assert redact("Das Passwort lautet \u3391a7\u2468\u2469x½z.") == (
        "Das Passwort lautet [redacted: password]."
    )


@every(
    "text, shown",
    [
        pytest.param(f"{WRAPPED}\n{REST} is it", "{}\n{} is it", id="next-line"),
        pytest.param(f"{WRAPPED}\\\n  {REST}", "{}\\\n  {}", id="backslash"),
        pytest.param(f'"{WRAPPED}" +\n    "{REST}"', '"{}" +\n    "{}"', id="strings"),
        pytest.param(f'"{WRAPPED}" + "{REST}"', '"{}" + "{}"', id="strings-on-a-line"),
        pytest.param(f"> {GITHUB[:10]}\r\n> {REST}.", "> {}\r\n> {}.", id="quoted"),
        pytest.param(f'{{"a": "{WRAPPED}\\n{REST}"}}', '{"a": "{}\\n{}"}', id="json"),
        pytest.param(f"{GITHUB[:9]}\n{REST}\n{REST[:9]}", "{}\n{}\n{}", id="three-lines"),
        pytest.param(f"{GITHUB}\n{REST}", f"{{}}\n{REST}", id="whole"),
        pytest.param(f"{WRAPPED}xxyz1\nThanks a lot", "{}\nThanks a lot", id="then-a-word"),
        pytest.param(f"{WRAPPED}xxyz1\n2026-11-23", "{}\n2026-11-23", id="then-a-date"),
        pytest.param(f"{WRAPPED}xxyz1\nAPI_KEY=x", "{}\nAPI_KEY=x", id="then-a-name"),
        pytest.param(f"{WRAPPED}xxyz1\n{'q' * 12}", "{}\n{}", id="then-a-long-word"),
        pytest.param(f"{WRAPPED}xxyz1\nqQxYwZZvKw", "{}\n{}", id="then-odd-capitals"),
        pytest.param(f"{WRAPPED}xxyz1\n4711 4711", "{}\n4711 4711", id="then-a-number"),
        pytest.param(f"{GITHUB}\n{GITHUB}", "{}\n{}", id="two"),
        pytest.param("ghp_\nabc", "ghp_\nabc", id="a-head-and-no-rest"),
        pytest.param(f"{WRAPPED}xxyz1.\nSo3me", "{}.\nSo3me", id="end-of-a-sentence"),
    ],
)
def test_what_is_wrapped_over_lines_is_hidden_whole(text: str, shown: str) -> None:
    assert redact(text) == shown.replace("{}", "[redacted: GitHub token]")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


LONG: Final = f"a first line, longer than what base64 puts on one, and then {GITHUB}"


@every(
    "text, shown",
    [
        pytest.param(f"x {encoded(GITHUB)} y", "x {} y", id="alone"),
        pytest.param(f"/v1/{encoded(GITHUB)}", "/v1/{}", id="in-a-path"),
        pytest.param(encoded(encoded(GITHUB)), "{}", id="twice"),
        pytest.param(encoded(encoded(encoded(GITHUB))), None, id="three-times"),
        pytest.param(base64.encodebytes(LONG.encode()).decode(), "{}\n", id="on-two-lines"),
        pytest.param(f"{'x' * 28}/\nand\n{encoded(GITHUB)}", f"{'x' * 28}/\nand\n{{}}", id="lines"),
        pytest.param(encoded("The quick brown fox jumps over it"), None, id="harmless"),
        pytest.param(encoded(chars("redaction/random", ALNUM, 40)), None, id="random"),
    ],
)
def test_base64_of_a_text_is_looked_at_as_that_text(text: str, shown: str | None) -> None:
    expected = text if shown is None else shown.replace("{}", "[redacted: encoded GitHub token]")
    assert redact(text) == expected


@every(
    "text, found",
    [
        ("postgres://user:password@localhost:5432/app", 0),
        ("https://USERNAME:PASS@[::1]:8443/", 0),
        ("redis://:password@127.0.0.1:6379/0", 0),
        ("postgres://user:password@db.example.org/app", 1),
        ("postgres://user:password@localhost.example.org/app", 1),
        ("postgres://user:hunter2@localhost/app", 1),
        ("postgres://ann:password@localhost/app", 1),
    ],
)
def test_placeholders_count_for_nothing_on_this_machine_only(text: str, found: int) -> None:
    assert len(find_secrets(text)) == found


def test_the_held_out_corpus_is_large_enough_to_mean_something() -> None:
    assert len(HELD_OUT) >= 60
    assert len({planted.kind for planted in HELD_OUT}) >= 25
    assert len(secrets_held_out.harmless()) >= 60


def test_a_secret_holds_no_value() -> None:
    (secret,) = find_secrets(f"use {GITHUB} here")
    assert secret == Secret("GitHub token", 4, 44)
    assert GITHUB not in repr(secret)


def test_what_is_around_a_secret_stays() -> None:
    text = f"one {GITHUB}, two\n{GITHUB}."
    assert redact(text) == "one [redacted: GitHub token], two\n[redacted: GitHub token]."


def test_secrets_that_overlap_are_one_and_have_the_sharper_name() -> None:
    text = f"https://ann:{GITHUB}@example.org"
    assert find_secrets(text) == [Secret("GitHub token", 12, 52)]


@every(
    "text, shown",
    [
        pytest.param(
            f"{BEGIN}\n{key_lines('redaction/a')}\n{END}\nnext",
            "[redacted: private key]\nnext",
            id="whole",
        ),
        pytest.param(f"{BEGIN}\n{key_lines('redaction/b')}", "[redacted: private key]", id="open"),
        pytest.param(
            f"{BEGIN}\n{key_lines('redaction/c')}\nThat was all.",
            "[redacted: private key] was all.",
            id="open-then-a-word-that-could-be-the-last-line",
        ),
        pytest.param(
            f"{BEGIN}\n{key_lines('redaction/d')}\n\nThat was all. It -- is",
            "[redacted: private key] was all. It -- is",
            id="open-then-prose",
        ),
        pytest.param(
            f"{BEGIN} is how it begins, {END} how it ends",
            f"{BEGIN} is how it begins, {END} how it ends",
            id="talked-about",
        ),
    ],
)
def test_a_private_key_is_hidden_to_its_last_line(text: str, shown: str) -> None:
    assert redact(text) == shown


def test_a_long_value_is_hidden_to_its_end() -> None:
    value = chars("redaction/long", ALNUM, 3000)
    assert redact(f"token={value}, next") == "token=[redacted: token], next"
    assert redact(f'token="{value}" next') == 'token="[redacted: token]" next'


def test_a_password_may_hold_an_at_sign_and_a_colon() -> None:
    assert (
        redact("db://ann:" + "p@ss:w@rd" + "@host/x")
        == "db://ann:[redacted: password in a URL]@host/x"
    )


@given(TEXTS)
@example(f"{GITHUB}{GITHUB}")
@example(f"password=x,{GITHUB}")
@example("password = [redacted: token]")
@example(f"{BEGIN}[redacted: token]{END}")
def test_hiding_twice_is_hiding_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once
    assert find_secrets(once) == []


@given(TEXTS)
def test_secrets_stand_in_order_and_inside_the_text(text: str) -> None:
    secrets = find_secrets(text)
    edges = [edge for secret in secrets for edge in (secret.start, secret.end)]
    assert all(secret.start < secret.end for secret in secrets)
    assert all(left <= right for left, right in pairwise([0, *edges, len(text)]))


@given(TEXTS)
def test_what_is_not_hidden_is_not_changed(text: str) -> None:
    shown = text
    for secret in reversed(find_secrets(text)):
        shown = f"{shown[: secret.start]}[redacted: {secret.kind}]{shown[secret.end :]}"
    assert redact(text) == shown


UNSEEN: Final = ["\u200b", "\xad", "\u0301", "\uff41", "\xbd", "\u202e", "\x1b"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "filler", ["a", "[", "-", " ", "\n", "0", "é", "([{<", "aB3", "/", *UNSEEN]
)
def test_a_megabyte_of_anything_is_read_to_its_end(filler: str) -> None:
    text = filler * (1_000_000 // len(filler))
    assert find_secrets(text) == []


NASTY: Final = [
    *("ghp_a1b2c3d4e5f6g7h8i9j0\nAb1x\n", "ghp_\nA1b2c3\n", "QUJD" * 19 + "\n", "\xe9\u200b/"),
    *("Passwort lautet ", "clave de ", "use a1! as password ", "passphrase: a b c ", "PIN: "),
    *("password=", "password: ", "my password is ", "token=token:", 'key="', "--token ", "secret,"),
    *(
        "eyJ.",
        "://a:",
        "://a:b@",
        "sk-",
        "xoxb-",
        "AKIA",
        "ghp_",
        "SG.",
        "123456789:",
        "sig=",
        "_auth=",
    ),
    *(
        BEGIN,
        BEGIN + "\n",
        BEGIN + "\nA: b\n",
        "[redacted: ",
        "[redacted: a]",
        "Bearer ",
        "curl -u a:",
    ),
    *(
        "<password>",
        "password for a ",
        "identified by ",
        "token=a.",
        "token=a,",
        "mysql -",
        "a:b@tcp(",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("part", NASTY)
def test_nested_beginnings_are_read_to_the_end(part: str) -> None:
    text = part * (30_000 // len(part))
    assert find_secrets(redact(text)) == []


def test_an_ordinary_sentence_asks_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(piece: str) -> list[Span]:
        raise AssertionError(piece)

    rules = tuple(rule._replace(find=fail) for rule in redaction._RULES)
    monkeypatch.setattr(redaction, "_RULES", rules)
    assert find_secrets("The integration tests always need a database, so start it first.") == []


def test_the_rest_is_looked_at_again_and_there_is_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    scanned: list[int] = []
    monkeypatch.setattr(redaction, "_ranked", peeling(scanned))
    text = "x" * 100_000
    assert find_secrets(text) == [Secret("x", start, end) for start, end in edges_of(text)]
    assert sum(scanned) < 20 * len(text)


def peeling(scanned: list[int]) -> Callable[[str, int], list[tuple[int, int, str, int]]]:
    """Return a scan that finds the first character of every piece and never nothing."""

    def scan(piece: str, deep: int) -> list[tuple[int, int, str, int]]:
        del deep
        scanned.append(len(piece))
        return [(0, 1, "x", 0)]

    return scan


def edges_of(text: str) -> list[tuple[int, int]]:
    """Return the spans that a peeling scan leaves: one character four times, then ever more."""
    edges = [0, 1, 2, 3, 4]
    margin = 64
    while edges[-1] < len(text):
        edges.append(min(len(text), edges[-1] + 1 + margin))
        margin *= 2
    return list(pairwise(edges))


def test_an_id_and_its_secret_are_both_hidden() -> None:
    key = chars("redaction/aws", BASE64, 40)
    shown = redact("AKIA" + chars("redaction/id", "ABCDEFGH234567", 16) + "," + key)
    assert shown == "[redacted: AWS access key],[redacted: AWS secret key]"


def test_a_digest_is_never_a_secret() -> None:
    assert find_secrets(f"sha256:{chars('redaction/sha', HEX, 64)}") == []


@given(TEXTS.map(lambda text: "".join(char for char in text if char >= " " and char != "\ud800")))
@example("")
def test_of_a_file_that_is_a_text_every_secret_counts(text: str) -> None:
    kinds = [secret.kind for secret in find_secrets(text)]
    assert secret_in(text.encode()) == (kinds[0] if kinds else "")


@every("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@every("planted", SEEN[:20], ids=lambda each: each.kind)
def test_a_text_in_another_encoding_is_a_text(planted: Planted, encoding: str) -> None:
    assert secret_in(f"{planted.text}\nZo\xe9\n".encode(encoding, "replace"))


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize("text", [GITHUB, f"{BEGIN}\n{key_lines('redaction/binary')}\n{END}"])
def test_what_has_a_known_shape_counts_in_any_file(text: str) -> None:
    assert secret_in(noise(1, 5_000) + b"\0" + text.encode() + b"\0" + noise(2, 5_000))


def test_chance_makes_no_secret_in_what_is_no_text() -> None:
    for seed in range(40):
        assert secret_in(noise(seed, 100_000)) == ""
    assert secret_in(b"\0pass=\x91\x07aQ9-zk2!\x05api_key=\x03s3cr-4u5-x9\0" * 9) == ""


def test_the_programs_that_this_python_loads_hold_no_secret() -> None:
    found = [*Path(sysconfig.get_path("platstdlib")).glob("lib-dynload/*.so")]
    for path in sorted(found)[:25]:
        assert secret_in(path.read_bytes()) == "", path
