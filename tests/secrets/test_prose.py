"""Secrets told in prose are found; talk about them is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramdown.secrets.prose import find_aws_keys, find_in_prose, find_login_passwords
from engramdown.secrets.redaction import find_secrets, redact
from tests.corpora import secrets_told_held_out
from tests.corpora.pieces import BASE64, HEX, UPPER36, chars
from tests.tables import every

ID = "AKIA" + chars("test_told/id", UPPER36, 16)
KEY = chars("test_told/key", BASE64, 40)


def sentences(file: str) -> list[str]:
    """Return the lines of a file beside this one."""
    return Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()


def passwords(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_login_passwords(text)]


def keys(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_aws_keys(text)]


@every(
    "text, value",
    [
        pytest.param("log in as ann/{}", "plum77x", id="pair"),
        pytest.param("Creds: ann : {}.", "plum77x", id="spaced"),
        pytest.param("(login with ann:{})", "plum77x", id="in-brackets"),
        pytest.param("use the password '{}'", "plum#tree", id="quoted"),
        pytest.param("user ann pw {}, port 22", "plum77", id="user"),
    ],
)
def test_a_password_that_is_told_is_found(text: str, value: str) -> None:
    assert passwords(text.replace("{}", value)) == [value]


@every(
    "text",
    [
        pytest.param("log in as ann/marigold", id="word"),
        pytest.param("log in as ann/20260227", id="number"),
        pytest.param("log in as ann/sha256ab", id="name"),
        pytest.param("log in as ann/plum-77", id="name-with-a-number"),
        pytest.param("log in as ann/step77/x", id="path"),
        pytest.param("use the password ${PLUM77}", id="placeholder"),
        pytest.param("the password plum77x", id="not-told"),
    ],
)
def test_a_word_a_name_and_a_path_are_left_alone(text: str) -> None:
    assert passwords(text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"id {ID}, and then, for what it is worth, {KEY}.", id="behind"),
        pytest.param(f"{KEY} belongs to\n{ID}", id="in-front"),
    ],
)
def test_a_key_near_its_id_is_found(text: str) -> None:
    assert keys(text) == [KEY]
    assert KEY not in redact(text)
    assert {secret.kind for secret in find_secrets(text)} == {"AWS access key", "AWS secret key"}


@every(
    "text",
    [
        pytest.param(f"{ID}{' ' * 200}{KEY}", id="far"),
        pytest.param(f"{ID} in commit {chars('test_told/sha', HEX, 40)}", id="commit"),
        pytest.param(f"{ID} may read /srv/data/reports/of/the/last/yearss/ab", id="path"),
        pytest.param(f"{ID} has {KEY}{KEY}", id="longer"),
        pytest.param(f"the id {ID.lower()}, the key {KEY}", id="no-id"),
    ],
)
def test_what_is_no_key_near_its_id_is_left_alone(text: str) -> None:
    assert keys(text) == []


def told(text: str) -> list[tuple[str, str]]:
    return [(kind, text[start:end]) for start, end, kind in find_in_prose(text)]


HASH = chars("test_told/hash", HEX, 40)


@every(
    "text, kind, value",
    [
        pytest.param("Das Datenbankpasswort lautet {}.", "password", "Moos_77", id="compound"),
        pytest.param("Das Passwort lautet {}", "password", "Sonnenblume", id="word-that-is-told"),
        pytest.param("mein Passwort ist {}.", "password", "Sonnenblume", id="word-of-ones-own"),
        pytest.param("le mot de passe est '{}'", "password", "tournesol", id="word-in-quotes"),
        pytest.param("mot de passe du wifi, c'est {}", "password", "Nord!77a", id="c-est"),
        pytest.param("la contrasena del nodo: {}", "password", "91827364", id="number"),
        pytest.param("| senha | {} |", "password", "Farol.Azul7", id="table"),
        pytest.param("- **Wachtwoord:** `{}`", "password", "Toren-44", id="bold"),
        pytest.param("senha = {}", "password", "Farol#Azul7", id="assigned"),
        pytest.param("pw: {}", "password", "vmMCEvKt", id="odd-capitals"),
        pytest.param("Nimm {} als Passwort.", "password", "Moos#77", id="as"),
        pytest.param("accedi con la password {}", "password", "Neve-Rossa5x", id="with"),
        pytest.param(
            "On a mis le mot de passe en {} hier", "password", "Nord!77a", id="changed-to"
        ),
        pytest.param("he cambiado la clave {}", "password", "Nord!77a", id="changed"),
        pytest.param("Mot de passe FTP :\n  {}\n", "password", "Nord!77a", id="below"),
        pytest.param("the admin pass is {}", "password", "Nord!77a", id="pass"),
        pytest.param("merk dir: Passwort {}", "password", "Nord!77ab", id="without-a-verb"),
        pytest.param("client_secret={}&grant_type=code", "token", HASH, id="before-another-name"),
        pytest.param("passphrase: {}", "password", "correct horse battery staple", id="phrase"),
        pytest.param("frase secreta: '{}'", "password", "cinco gatos y un perro", id="quoted"),
        pytest.param("Der PIN ist {}.", "PIN", "739104", id="pin"),
        pytest.param("De pincode: {}", "PIN", "1182", id="pincode"),
        pytest.param("The mailbox has the PIN {}.", "PIN", "7719", id="pin-beside"),
        pytest.param("PIN der Alarmanlage: {}", "PIN", "7719", id="pin-of"),
        pytest.param("SIM-PIN: {}", "PIN", "7719", id="pin-part"),
        pytest.param("la cle d'api est {}", "token", HASH, id="token"),
        pytest.param("changed the token to {}", "token", HASH, id="token-changed"),
        pytest.param("Der Schlussel ist {}", "key", "q7RtX2vB9mKp4WzL8sNd3", id="key"),
    ],
)
def test_what_a_sentence_tells_is_found(text: str, kind: str, value: str) -> None:
    assert told(text.replace("{}", value)) == [(kind, value)]


@every(
    "text",
    [
        pytest.param("Das Passwort ist falsch.", id="adjective"),
        pytest.param("Das Passwort ist Sonnenblume", id="word-of-nobody"),
        pytest.param("mein Passwort ist Sonnenblume im Topf", id="not-the-last-word"),
        pytest.param("mon mot de passe est complique.", id="what-one-says-of-it"),
        pytest.param("the password is 'required'", id="saying-in-quotes"),
        pytest.param("the password = 'aardvark'", id="word-in-code"),
        pytest.param("la clave es dormir bien y 100% tranquilo", id="not-a-value"),
        pytest.param("Passwort: 1Password", id="product"),
        pytest.param("Passwort: 12-stellig", id="length"),
        pytest.param("Kennwort: srv/app7/x", id="path"),
        pytest.param("Passwort: utf-8", id="name"),
        pytest.param("Passwort: 4711", id="short-number"),
        pytest.param("Passwort:", id="nothing"),
        pytest.param("Passwort:\n  sha256", id="a-name-below"),
        pytest.param("the pass is fine7", id="a-pass"),
        pytest.param("pass a pooled href=file#part1", id="to-pass"),
        pytest.param("Passwort: ''", id="nothing-in-quotes"),
        pytest.param("die Passwortregel ist Moos_77", id="another-word"),
        pytest.param("desenha: Farol#Azul7", id="inside-a-word"),
        pytest.param("mot de passe : 'voir le coffre'", id="sentence-in-quotes"),
        pytest.param("passphrase: must not be empty at all", id="talk-of-a-phrase"),
        pytest.param("passphrase: two words", id="two-words"),
        pytest.param("Moos_77 ist das Passwortfeld", id="as-something-else"),
        pytest.param("Moos_77 ist das Passwort der Woche hier", id="as-and-more"),
        pytest.param("argon2id als Passwort.", id="as-a-name"),
        pytest.param("changed the password to sha256", id="changed-to-a-name"),
        pytest.param("changed the password to", id="changed-to-nothing"),
        pytest.param("rotated the token feature2x", id="token-that-is-a-name"),
        pytest.param("the pin is 12", id="pin-of-a-plug"),
        pytest.param("Der Schlussel ist Geduld.", id="key-to-success"),
        pytest.param("the key is pk_test_" + chars("test_told/pk", HEX, 24), id="public"),
        pytest.param("key Moos_77", id="key-and-no-verb"),
    ],
)
def test_talk_of_a_secret_is_left_alone(text: str) -> None:
    assert told(text) == []


# A change of these figures is a change of what README.md may say: benchmarks/secrets.py.
def test_what_was_held_out_is_found_as_often_as_is_said() -> None:
    found = [
        not planted.is_left_in(redact(planted.text)) for planted in secrets_told_held_out.planted()
    ]
    alarms = [text for text in secrets_told_held_out.harmless() if find_secrets(text)]
    assert (sum(found), len(found), len(alarms)) == (15, 16, 0)


SENTENCES = sentences("revealing_sentences.txt")


@every("values", [("Qu4rry-Lane", "Spr1ng.Thaw"), ("mos&Nest14", "hWq84-Moos")])
@every("text", SENTENCES)
def test_values_of_any_construction_are_hidden(text: str, values: tuple[str, str]) -> None:
    told = redact(text.replace("X", values[0]).replace("Y", values[1]))
    assert not any(value in told for value in values)


@every(
    "text, phrase",
    [
        ("the passphrase of the drive was I think velvet otter paints seven lanterns", "velvet"),
        ("la passphrase du disque était je crois trois pingouins mangent du nougat", "trois"),
        ("la frase de paso del disco era creo seis burros cantan jazz", "seis"),
        ("la passphrase del disco era credo quattro lumache sotto il portico", "quattro"),
        ("a passphrase do disco era acho que sete gatos dormem na praia", "sete"),
        ("de wachtzin van de backup was denk ik zeven eenden fietsen naar Hoorn", "zeven"),
        ("die passphrase war glaub ich blauer Hering tanzt um halb drei", "Hering"),
    ],
)
def test_a_phrase_behind_a_doubt_is_hidden(text: str, phrase: str) -> None:
    assert phrase not in redact(text)


ORDINARY = sentences("ordinary_sentences.txt")


@every("text", ORDINARY)
def test_ordinary_sentences_about_passwords_are_left_alone(text: str) -> None:
    assert redact(text) == text


def test_what_a_keyring_is_given_is_hidden_and_no_name() -> None:
    text = 'keyring.set_password("weather-cli", "ann", "' + "Plum#77x" + '")'
    assert redact(text) == ('keyring.set_password("weather-cli", "ann", "[redacted: password]")')


def test_a_clause_near_the_name_tells_what_it_is() -> None:
    for text in (
        "I changed the vault password, now it's {plum-Tree77}",
        "Passwort ist neu; es ist jetzt {Pflaume-77x}.",
        "my login? it's {Plum-tree77}",
        "the password is the same as always: {Plum2024x}",
        "My password has {Plum2024x} in it, with a capital P",
        "{Plum2024x}, the password I mean",
        "what they call the password reads {plum-77!tree} on the card",
        "The digicode changed, now it's {A4471}",
        "Use root and {Plum-7!tree}",
    ):
        value = text[text.index("{") + 1 : text.index("}")]
        assert value not in redact(text.replace("{", "").replace("}", "")), text


def test_what_only_stands_near_the_name_is_left_alone() -> None:
    for text in (
        "The password check is red, now it's SEC-2291.",
        "I changed the password, and now it's Windows11.",
        "The password must have a capital, as NIST2024x says",
        "The PIN is typed at the end of 2024",
        "Pin 1024 rows, and GPIO pin 2040",
        "PIN entry in 2024",
        "the password of the FRITZ!Box7590 is lost",
        "Log in with Chrome and Firefox-128",
        "the password of $PLUM_77!x and of plum%20tree!7",
    ):
        assert find_secrets(text) == [], text


def test_a_public_key_in_json_is_no_random_token() -> None:
    key = chars("test_told/jwk", BASE64.replace("+", "").replace("/", ""), 43)
    public = f'{{"kty": "EC", "crv": "P-256", "x": "{key}"}}'
    assert find_secrets(public) == []
    assert find_secrets(public.replace('"x"', '"d"')) != []
