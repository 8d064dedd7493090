"""Secrets told in prose are found; talk about them is left alone."""

from __future__ import annotations

import pytest

from engramdown.secrets.prose import find_aws_keys, find_in_prose, find_login_passwords
from engramdown.secrets.redaction import find_secrets, redact
from tests.corpora import secrets_told_held_out
from tests.corpora.pieces import BASE64, HEX, UPPER36, chars

ID = "AKIA" + chars("test_told/id", UPPER36, 16)
KEY = chars("test_told/key", BASE64, 40)


def passwords(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_login_passwords(text)]


def keys(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in find_aws_keys(text)]


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
        pytest.param("la cle d'api est {}", "token", HASH, id="token"),
        pytest.param("changed the token to {}", "token", HASH, id="token-changed"),
        pytest.param("Der Schlussel ist {}", "key", "q7RtX2vB9mKp4WzL8sNd3", id="key"),
    ],
)
def test_what_a_sentence_tells_is_found(text: str, kind: str, value: str) -> None:
    assert told(text.replace("{}", value)) == [(kind, value)]


@pytest.mark.parametrize(
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


SENTENCES = [
    "then type X when it asks for the password",
    "at the password prompt, enter X",
    "when it asks for a password just type X",
    "Can you log in with X? That's Jens's password.",
    "Can you log in with X? That is the password of Jens.",
    "we changed the admin password from X to Y last night",
    "the root password is now X (before Y)",
    "I know the password, X, but not the mail",
    "I do remember the wifi password: it is X",
    "as the password I chose X",
    "wenn er nach dem Passwort fragt, tipp X ein",
    "gib X ein, wenn nach dem Passwort gefragt wird",
    "sobald das Passwort verlangt wird: X eingeben",
    "Melde dich mit X an, das ist das Kennwort von Jens.",
    "Ich habe das Passwort von X auf Y geändert",
    "Das Passwort habe ich geändert: es ist jetzt X (vorher Y)",
    "das Passwort weiß ich noch, X",
    "als Passwort habe ich X gewählt",
    "habe X als Passwort gesetzt",
    "quand il demande le mot de passe, tape X",
    "tape X quand on te demande le mot de passe",
    "connecte-toi avec X, c'est le mot de passe de Jean",
    "on a changé le mot de passe de X à Y hier",
    "J'ai changé le mot de passe : c'est maintenant X (avant Y)",
    "le mot de passe je le connais, X",
    "j'ai mis X comme mot de passe",
    "comme mot de passe j'ai mis X",
    "j'ai mis comme mot de passe X",
    "cuando pida la contraseña escribe X",
    "escribe X cuando te pida la contraseña",
    "entra con X, esa es la contraseña de Juan",
    "cambié la contraseña de X a Y anoche",
    "la contraseña de root ahora es X (antes Y)",
    "la contraseña sí me la sé, X",
    "le puse X de contraseña al router",
    "como contraseña puse X",
    "puse de contraseña X",
    "quando chiede la password scrivi X",
    "scrivi X quando ti chiede la password",
    "entra con X, è la password di Gianni",
    "ho cambiato la password da X a Y ieri",
    "Ho cambiato la password: ora è X (prima Y).",
    "la password la so, X",
    "ho messo X come password",
    "come password ho messo X",
    "gli ho messo X di password",
    "quando pedir a senha, digita X",
    "digite X quando pedir a palavra-passe",
    "entra com X, essa é a senha do João",
    "troquei a senha de X para Y ontem",
    "mudei a senha do root: agora é X (antes Y)",
    "a senha eu sei, X",
    "coloquei X como senha",
    "coloquei como senha X",
    "mudei a palavra-passe pra X",
    "als hij om het wachtwoord vraagt, typ X",
    "typ X als hij om het wachtwoord vraagt",
    "log in met X, dat is het wachtwoord van Jan",
    "ik heb het wachtwoord van X naar Y veranderd",
    "Het wachtwoord heb ik gewijzigd: het is nu X (eerst Y)",
    "het wachtwoord weet ik nog, X",
    "ik heb X als wachtwoord ingesteld",
    "als wachtwoord heb ik X gekozen",
    "zet het wachtwoord op X",
    "your temporary password is X",
    "Ihr vorläufiges Passwort ist X",
    "votre mot de passe provisoire est X",
    "su contraseña provisional es X",
    "la sua password provvisoria è X",
    "a sua palavra-passe provisória é X",
    "uw voorlopige wachtwoord is X",
    "my old password was X and the new one is Y",
    "set the password to X instead of Y",
]


@pytest.mark.parametrize("values", [("Qu4rry-Lane", "Spr1ng.Thaw"), ("mos&Nest14", "hWq84-Moos")])
@pytest.mark.parametrize("text", SENTENCES)
def test_values_of_any_construction_are_hidden(text: str, values: tuple[str, str]) -> None:
    told = redact(text.replace("X", values[0]).replace("Y", values[1]))
    assert not any(value in told for value in values)


@pytest.mark.parametrize(
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


ORDINARY = [
    "I forgot my password when I moved to iPhone15pro, what now?",
    "Log in with Office365 when it asks for the password.",
    "Log in as svc_app01 when it asks for the password.",
    "Type ann_77x as the user name and then your password.",
    "Type your user name ann_77x and then the password.",
    "Use Ctrl+Shift+V in the password field.",
    "Press Ctrl+V1 at the password prompt.",
    "Use SHA512crypt for the password and PBKDF2 for the key.",
    "Use argon2id when you store the password.",
    "Use KeePass2 for the password, that is the best password manager.",
    "Open http://10.0.0.1:8080/login2 and enter the password.",
    "Copy the password from prod01a to stage02b.",
    "Change the password from time to time, at least every 90days.",
    "Change the password from the default to something with 12+ characters.",
    "Set the password policy from 8 to 12 characters.",
    "The password reset failed with error_0x80a7, I know, it is odd.",
    "I know the password, but step2verify fails.",
    "When it asks for the password, type it and press F12.",
    "When asked for the password, run ssh-add -K ~/.ssh/id_ed25519 first.",
    "When prompted for a password, enter the one from KeePassXC.",
    "Password: use the one from vault (entry db-prod-01).",
    "Use sudo apt-get install libpam0g-dev when it asks for the password.",
    "For the password see https://wiki.example.org/page2#pw.",
    "The password was wrong before version 2.4.1-rc3 (before v2.4.1).",
    "The password prompt is new (before Windows11 there was none).",
    "I can log in with Chrome120, that is the password manager at work.",
    "The API returns 401 for user42abc, is the password wrong?",
    "Try user42abc! Is the password the same?",
    "Use --password-stdin=true when it asks for the password.",
    "Use $PASSWORD1 for the password.",
    "Put %DB_PASS% as the password in config2.yaml.",
    "Put {{ db_password2 }} where the password goes.",
    "Enter <your-password1> when it asks for the password.",
    "The password field has id input#pw2-field, type text.",
    'type="password" id="pw2" name="pw2-input"',
    "We changed the password hash from md5crypt to sha512crypt.",
    "We changed the password form from login_v1.html to login_v2.html.",
    "We changed the password check in auth2/login.py from bcrypt$2a to bcrypt$2b.",
    "passwords were changed from PLAINTEXT_V1 to HASHED_V2 in the enum.",
    "I asked ann@mail2.test for the password.",
    "Ask bob.smith+2@mail.test about the password.",
    "He wants a password with A-Z, a-z, 0-9 and !@#$%.",
    "The password must match ^[A-Za-z0-9]{8,}$ or similar.",
    "For the password use 8-12 characters and at least one of !#$%&.",
    "As the password choose something with Aa1! in it, at least.",
    "Fixes #1234: ask for the password twice.",
    "See PR#5678abc, it asks for the password twice.",
    "On host web-3a2b the login asks for a password, use your own.",
    "Enter your PIN2 code and then the password.",
    "ssh ann@10.0.0.12 asks for a password, ssh-copy-id ann@10.0.0.12 helps.",
    "Run openssl passwd -6 when it asks for the password.",
    "In 2024Q3 we used LDAP, that was the password era.",
    "Use OAuth2.0 instead of a password.",
    "Switch to passkeys instead of password1234-style logins.",
    "Set a password with useradd -p instead of chpasswd2.",
    "Wenn er nach dem Passwort fragt, drücke Strg+Alt+Entf.",
    "Wenn nach dem Passwort gefragt wird, nimm das aus KeePass2.",
    "Melde dich mit Office365 an, das ist das Passwort-Portal.",
    "Ich habe das Passwort von Hand auf zwölf Zeichen geändert.",
    "Ich habe die Passwortlänge von 8 auf 12Zeichen geändert.",
    "Das Passwort kenne ich, aber der 2FA-Code fehlt.",
    "Als Passwort nimm bitte mindestens 12Zeichen mit #, & oder !.",
    "Bitte das Passwort für srv-web01a bei Jens erfragen.",
    "Wir benutzen bcrypt2b als Passwort-Hash.",
    "Beim Passwort hilft dir Ticket INC0012345 weiter.",
    "Das Passwort ist nach Regel ISO27001 zu ändern.",
    "Quand il demande le mot de passe, appuie sur Ctrl+V.",
    "Le mot de passe, je le connais, mais le code F2A-12 non.",
    "J'ai changé le mot de passe de la box Livebox6 hier.",
    "On change le mot de passe de srv-db01a à chaque départ.",
    "Tape ton identifiant jdupont75 puis le mot de passe.",
    "Pour le mot de passe, va sur https://intra.test/reset2.",
    "Utilise KeePass2 pour le mot de passe.",
    "Entre l'email jean+2@mail.test comme identifiant et ton mot de passe.",
    "Cambié la contraseña de admin01a ayer.",
    "Cambia la contraseña de 8 a 12 caracteres.",
    "Cuando pida la contraseña pulsa Ctrl+V.",
    "Usa KeePass2 para la contraseña.",
    "La contraseña sí la sé, pero el código del 2FA no.",
    "Escribe tu usuario maria_77x y luego la contraseña.",
    "Pon el servidor srv-web01a y la contraseña que te di.",
    "Quando chiede la password premi Ctrl+V.",
    "La password la so, ma il PIN2 no.",
    "Ho cambiato la password di srv-web01a ieri.",
    "Usa KeePass2 per la password.",
    "Scrivi il tuo utente mario_77x e poi la password.",
    "Ho messo 12caratteri come lunghezza della password.",
    "Quando pedir a senha, aperte Ctrl+V.",
    "A senha eu sei, mas o código do app2fa não.",
    "Troquei a senha do srv-web01a ontem.",
    "Usa o KeePass2 para a senha.",
    "Digite seu usuário joao_77x e depois a senha.",
    "Mudei o tamanho da senha de 8 para 12caracteres.",
    "Als hij om het wachtwoord vraagt, druk op Ctrl+V.",
    "Het wachtwoord weet ik, maar de 2FA-code niet.",
    "Ik heb het wachtwoord van srv-web01a gisteren veranderd.",
    "Gebruik KeePass2 voor het wachtwoord.",
    "Typ je gebruikersnaam jan_77x en dan het wachtwoord.",
    "Zet het wachtwoord op minstens 12tekens.",
    "Voor het wachtwoord moet je bij kamer B2.34a zijn.",
    "user = find_user(db1.users2, password_reset=True)",
    'pw = get_password("svc-app01"); secret = client.get_secret("prod/db-Password1")',
    "token = fetchToken('svc-a1b2c3d4')",
    'String s = vault.readSecret("kv/app-2b/db1x");',
    "cat password | sha256sum",
    "echo $PASSWORD1 | base64",
    "printf '%s' \"$PW\" | sha256sum | cut -d' ' -f1",
    "if grep -q password /etc/pam.d/common-auth2; then echo ok; fi",
    "Your order A1B2-C3D4 is ready, log in with your password to see it.",
    "Invoice INV-2024-0042 is ready: log in with your password.",
    "For ticket ABC-1234x enter your password again.",
    "Use build 7f3a9c2 if it asks for the password again.",
    "Use commit 7f3a9c2e1b if it asks for the password again.",
    "Try firmware RT2600ac-1.3.1 when it forgets the password.",
    "Use user ann_77x when it asks for the password.",
    "The wifi FritzBox7590 asks for a password.",
    "Connect to FritzBox7590 as it asks for no password.",
    "Connect to eduroam5G, it is without a password.",
    "Use the printer HP4650dn in room 12b, it wants a password.",
]


@pytest.mark.parametrize("text", ORDINARY)
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
