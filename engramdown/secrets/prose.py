"""Finds secrets in prose: a login with its password, a key beside its id, a PIN in a sentence.

Words, names, versions and paths do not count, so it misses more than it hides wrongly. Pure; the
cost grows linearly with the text.

It knows the words for secrets, and the sentences that reveal one, in English, German, French,
Spanish, Italian, Portuguese and Dutch. The text has no accents any more: *contraseña* is
``contrasena``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from engramdown.lazy import compiled
from engramdown.secrets.assignments import (
    Span,
    is_odd,
    is_opaque,
    is_public,
    is_random_key,
    is_reference,
    is_saying,
    looks_random,
    names_public,
    word_set,
)
from engramdown.secrets.prefilter import LikelyPattern, small

# Without one of these, in small letters, :func:`find_login_passwords` finds nothing.
LOGINS: Final = (
    *("pass", "pw", "login", "log in", "logged in", "sign in", "ssh in", "cred"),
    *("auth", "gangsdaten", "meldedaten", "identifiants", "inloggegevens"),
    *("inlog", "connecte", "entra c", "root ", "admin "),
)

# Without one of these, in small letters, :func:`find_aws_keys` finds nothing.
KEY_IDS: Final = ("akia", "asia")

_VALUE: Final = r"[\"'`]?([^\s\"'`<>,;/:]{6,64})(?=[\s\"'`<>,;]|[:/]?(?:\s|\Z))"
# Somebody logs in as ann/…, or the creds are ann:….
_PAIR: Final = (
    r"\b(?i:log(?:ged)?[ -]?in|sign in|ssh in|cred(?:ential)?s|(?:an|zu)(?:gangs|melde)daten"
    r"|identifiants|credenciales|credenziali|credenciais|inloggegevens)(?:[ \t](?i:d\w{0,4}|for|of"
    r"|fur|vo[nm]|van)[ \t][\w-]{1,20})?(?:[ \t](?i:are|as|is|the|user|using|with|sind|sont|son"
    r"|sono|sao|zijn)){0,4}[ \t]?:?[ \t][A-Za-z][\w.-]{0,30}[ \t]?[/:][ \t]?" + _VALUE
)
# Somebody uses the password …, or is user ann, password ….
_PASSWORD: Final = (
    r"\b(?i:and|use|using|with|(?:user|username)[ \t][\w.-]{1,30},?)[ \t](?i:the[ \t])?"
    r"(?i:pass(?:word|wd|phrase|code)?|pw)[ \t]" + _VALUE
)
# Somebody logs in with ann and …, or uses root and ….
_WITH_BOTH: Final = (
    r"(?i:(?:log in|logged in|login|sign in|einlogg?en|connecte\w{0,4}|entra|inlogg?en)\b[^\n.;!?]{"
    r"0,40}?[ \t](?:with|mit|avec|con|com|met)[ \t][\w.@+-]{2,40}|root|admin)(?:,?[ \t](?:and|und"
    r"|et|y|e|en)|[ \t]?/)[ \t]" + _VALUE
)
_BOTH: Final = (
    *("log in", "login", "logged in", "sign in", "inlog", "einlog", "connecte", "entra c"),
    *("root ", "admin "),
)
# Two strings for HTTP's basic authentication.
_BASIC: Final = (
    r"\bauth[ \t]{0,3}=[ \t]{0,3}\([ \t]{0,3}[\"'][^\"'\n]{1,64}[\"'],[ \t]{0,3}"
    r"[\"']([^\"'\s]{4,64})[\"']"
)
_PATTERNS: Final = (
    LikelyPattern(r"auth[ \t]{0,3}=[ \t]{0,3}\(", _BASIC),
    LikelyPattern(
        r"(?:log(?:ged)?[ -]?in|s(?:ign|sh) in|cred(?:ential)?s|(?:an|zu)(?:gangs|melde)daten"
        r"|identifiants|credenciales|credenziali|credenciais|inloggegevens)[ \t:]",
        _PAIR,
    ),
    LikelyPattern(
        r"(?:and|us(?:e|ing)|with|user(?:name)?[ \t][\w.-]{1,30},?)[ \t](?:the[ \t])?(?:pass|pw)",
        _PASSWORD,
    ),
)
_KEY_ID: Final = r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"
_KEY: Final = r"(?<![\w+/=-])[A-Za-z0-9+/]{40}(?![\w+/=-])"
# How far a key may be from its id, in characters.
_NEAR: Final = 200


def find_login_passwords(piece: str) -> Iterator[Span]:
    """Find the passwords in ``piece`` that follow a login, or the words "with the password".

    >>> list(find_login_passwords("log in as ann/" + "plum!77"))
    [(14, 21, 'password')]
    """
    lowered = small(piece)
    matches = [match for pattern in _PATTERNS for match in pattern.finditer(piece, lowered)]
    both = compiled(_WITH_BOTH)
    matches += [
        match for word in _BOTH for at in _places(lowered, word) if (match := both.match(piece, at))
    ]
    for match in matches:
        value = match[1].rstrip(".)]}?")
        convincing = _is_convincing("pass", value) and not compiled(_VERSIONED).match(value)
        if convincing or _is_strong(value):
            yield match.start(1), match.start(1) + len(value), "password"


def _places(lowered: str, word: str) -> Iterator[int]:
    """Yield the places of ``word``."""
    place = lowered.find(word)
    while place >= 0:
        yield place
        place = lowered.find(word, place + len(word))


def find_aws_keys(piece: str) -> Iterator[Span]:
    """Find the secret keys of AWS near the id of one."""
    for found in compiled(_KEY_ID).finditer(piece):
        start, end = max(0, found.start() - _NEAR), min(len(piece), found.end() + _NEAR)
        for match in compiled(_KEY).finditer(piece, start, end):
            if looks_random(match[0], len(match[0])):
                yield *match.span(), "AWS secret key"


# A product with its version: Firefox-128.
_VERSIONED: Final = r"[A-Z][A-Za-z]+-?[0-9.]+\Z"
# A sign that no name has, a digit between letters, or two digits behind a word.
_STRONG: Final = r"[!#$%&*+=?^~|]|[A-Za-z][0-9]+[._-]?[A-Za-z]|[A-Za-z][0-9]{2,}\Z"


def _is_strong(value: str) -> bool:
    """Whether a value is a password in any context; a word may only describe one."""
    named = is_reference(value) or not compiled(r"[A-Za-z]").search(value)
    return not named and bool(compiled(_STRONG).search(value))


# ---- sentences in seven languages ----


class _Noun(NamedTuple):
    """A name for a secret, in small letters and without accents.

    Attributes:
        word: The beginning of all of its forms.
        form: A pattern of its forms.
        family: ``password``, ``pass``, ``phrase``, ``pin``, ``token`` or ``key``.
        compound: Whether it may be the end of a longer word, as in Datenbankpasswort.
    """

    word: str
    form: str
    family: str
    compound: bool = False


_OF: Final = (
    r"(?:a[lnt]?|for|in|o[fn]|to|am|auf|beim?|furs?|im|vo[mn]|zu[mr]?|au|d[eu]s?|pour|sur|del|en"
    r"|para|d[aio]|dell[aeo]|nel|per|na|no|aan|bij|op|van|voor)"
)
# Things that a code opens.
_LOCKS: Final = ("alarm", "deur", "door", "entry", "garage", "gate", "haustur", "lock", "safe")
_LOCKED: Final = (
    r"(?:(?:front )?door|gate|alarm[aem]?|allarme|safe|lock|building|garage|tor|(?:haus)?tur|tresor"
    r"|porte(?: d'entree)?|portail|entree|immeuble|coffre|puerta|caja fuerte|porta|portone|portao"
    r"|cancello|cassaforte|sblocco|desbloqueo|desbloqueio|cofre|(?:voor)?deur|hek|poort|kluis)"
)
# Names with one form, by their family; with a plus they may be the end of a longer word.
_SIMPLE: Final = {
    "password": "passcode|zugangscode|toegangscode|pwd|pw|mdp|contrasena|senha|access code"
    "|mot de passe|code de passe|code d'acces|cle wifi",
    "password+": "passwd|kennwort|wachtwoord",
    "pass": "pass",
    "phrase": "wachtwoordzin|wachtzin",
    "phrase+": "passphrase",
    "pin": "geheimzahl|digicode",
    "token": "segreto|segredo",
    "key": "key|cle|chiave|chave",
    "key+": "schlussel|sleutel",
    "login": "wifi",
}
_NOUNS: Final = (
    *(
        _Noun(word, word, family.removesuffix("+"), compound=family.endswith("+"))
        for family, words in _SIMPLE.items()
        for word in words.split("|")
    ),
    _Noun("passwor", "passwor[dt]", "password", compound=True),
    _Noun("codi", "codi(?:ce|go) (?:de |di |d')(?:acceso|accesso|acesso)", "password"),
    _Noun("clave", "clave(?: (?:de (?:la )?)?(?:api|acceso)| secreta)?", "password"),
    _Noun("palavra", "palavra[ -](?:passe|chave)", "password"),
    _Noun("parola", "parola (?:d'ordine|chiave|segreta)", "password"),
    _Noun(" ww ", " ww(?= )", "password"),
    _Noun("wlan", "wlan[ -]?schlussel", "password"),
    _Noun("login?", r"login(?=\?)", "login"),
    _Noun("phrase", "phrase (?:secrete|de passe)", "phrase"),
    _Noun("frase", "frase (?:d[ei] (?:paso|acceso|accesso)|secreta|segreta)", "phrase"),
    _Noun("pin", "pin(?:[ -]?(?:code|number|nummer))?", "pin"),
    _Noun("code", rf"code (?:{_OF} (?:\w{{2,3}} |l')?{_LOCKED}|d'{_LOCKED})", "pin"),
    _Noun("codi", rf"codi(?:ce|go) {_OF} (?:\w{{1,3}} |l')?{_LOCKED}", "pin"),
    _Noun("clave", rf"clave {_OF} (?:\w{{1,3}} |l')?{_LOCKED}", "pin"),
    *(_Noun(f"{lock}code", f"{lock}code", "pin", compound=True) for lock in _LOCKS),
    *(_Noun(f"{lock} code", f"{lock} code", "pin") for lock in _LOCKS),
    _Noun("token", "token(?: d[ei]? ?'?(?:acceso|acces|acesso|accesso))?", "token", compound=True),
    _Noun("jeton", "jeton(?: d'(?:acces|api))?", "token"),
    _Noun("secret", "secret(?: key)?", "token", compound=True),
    _Noun("geheim", "geheim(?:nis)?", "token"),
    _Noun("api", "api[ -]?(?:key|schlussel|sleutel)", "token"),
    _Noun("access", "access[ -]key", "token"),
    _Noun("cle", "cle (?:d'|de l')?(?:api|acces|secrete)", "token"),
    _Noun("chiave", "chiave (?:d'|di )?(?:api|accesso|segreta)", "token"),
    _Noun("chave", "chave (?:d[ae] )?(?:api|acesso|secreta)", "token"),
)
_BEGINNINGS: Final = {noun.word for noun in _NOUNS}
# Without one of these, in small letters, :func:`find_in_prose` finds nothing.
NOUNS: Final = tuple(
    sorted(word for word in _BEGINNINGS if not any(one in word for one in _BEGINNINGS - {word}))
)

_WITH_WORD: Final = {word: [noun for noun in _NOUNS if word in noun.word] for word in NOUNS}
_KINDS: Final = {"login": "password", "pass": "password", "phrase": "password", "pin": "PIN"}


def find_in_prose(piece: str) -> Iterator[Span]:
    """Find the passwords, numbers, tokens and keys that sentences of ``piece`` reveal.

    >>> list(find_in_prose("Das Passwort lautet " + "Apfel77."))
    [(20, 27, 'password')]
    """
    lowered = small(piece)
    spans: dict[Span, None] = {}
    # A noun with two such words is searched twice, and found once.
    nouns = [noun for word in NOUNS if word in lowered for noun in _WITH_WORD[word]]
    for noun in nouns:
        for place in _places(lowered, noun.word):
            if not (match := compiled(noun.form + r"(?![\w-])").match(lowered, place)):
                continue
            before = compiled(r"[a-z0-9_-]{1,40}\Z").search(lowered, max(0, place - 40), place)
            is_public_key = noun.family == "key" and names_public(
                lowered[max(0, place - 20) : place]
            )
            is_part = before and not (noun.family == "pin" and before[0].endswith("-"))
            if (noun.compound or not is_part) and not is_public_key:
                start = before.start() if before else place
                mention = _Mention(piece, lowered, noun.family, start, match.end())
                kind = _KINDS.get(noun.family, noun.family)
                spans |= dict.fromkeys((*span, kind) for span in _values(mention))
    yield from spans


class _Mention(NamedTuple):
    """A place where a secret is named.

    Attributes:
        text: The text.
        lowered: The text in small letters.
        family: The family of the name.
        start: Where the name begins.
        end: Where the name ends.
    """

    text: str
    lowered: str
    family: str
    start: int
    end: int

    def name(self) -> str:
        """Return the name as the text has it."""
        return self.text[self.start : self.end]

    def before(self) -> str:
        """Return the text in front of the name on its line, in small letters."""
        near = self.lowered[max(0, self.start - _NEAR) : self.start]
        return near[near.rfind("\n") + 1 :]

    def behind(self) -> str:
        """Return the text behind the name on its line, in small letters."""
        return self.lowered[self.end : self.end + _NEAR].partition("\n")[0]


# ---- values in a sentence ----

# Words behind the name of a password: a new one, that of the wifi.
_SUCH: Final = (
    r"(?:[ \t]\(?(?:admin|ftp|prod|root|smtp|ssh|staging|vpn|wifi|wlan|(?:a[ct]+ual|actuel|alt"
    r"|ancien|anterior|antig|attual|corrent|corrient|definitiv|inici|inizial|bonne?|cert[ao]"
    r"|correct[ao]?|corrett[ao]|giust[ao]|richtige?|initial|ma[ei]?[se]?tr|mestr|neu|nouve|nov|nuev"
    r"|nuov|precedent|predefinit|princip|provis|provvis|secret|segret|tempor|vecchi"
    r"|viej)[a-z]{0,6})\)?)?"
)
_MEANT: Final = rf"{_SUCH}(?:[ \t]{_OF}(?:[ \t][^\s:=,;|]{{1,30}}(?<![.!?])){{1,6}}?)?"
_STILL: Final = (
    r"(?:[ \t](?:also|back to|currently|just|now|simply|still|since \w+"
    r"|seit \w+|ubrigens|trouwens|aktuell|derzeit|jetzt|noch|nun|einfach"
    r"|actuellement|maintenant|encore|toujours|donc|desormais|ahora|todavia|entonces|ora|adesso"
    r"|ancora|quindi|agora|ainda|entao|nu|nog|dus|momenteel|le|el)){0,2}"
)
# Words of somebody who is not sure.
_MAYBE: Final = (
    r"(?:,?[ \t]\(?(?:i (?:think|believe|guess)|if i (?:remember|recall)(?: \w{4,9})?|afaik"
    r"|probably|perhaps|maybe|glaube? ich|ich glaube?|(?:so )?viel ich weiss|meine? ich|denke? ich"
    r"|wohl|vielleicht|wahrscheinlich|je (?:crois|pense)|peut-etre|si je me souviens bien"
    r"|creo(?: que)?|me parece|quizas?|tal vez|si no recuerdo mal|credo|mi (?:pare|sembra)|penso"
    r"|forse|se (?:non )?ricordo (?:bene|male)|(?:eu )?acho(?: que)?|talvez|se nao me engano"
    r"|geloof ik|denk ik|volgens mij|misschien|waarschijnlijk|meen ik)\)?,?)?"
)
_COPULA: Final = (
    r"(?:is|was|will be|being|ist|war|lautet|heisst|bleibt|steht auf|est|etait|reste|es|era"
    r"|sigue siendo|quedo|e|rimane|ficou|continua sendo|luidt|blijft)"
)
_IS: Final = (
    rf"{_COPULA}{_STILL}{_MAYBE}"
    r"(?::?[ \t]{1,3}|:(?=\r?\n))"
)
# Between a name and its value, in a list and in a table, too.
_SIGN: Final = (
    r"[\"'`]?(?:\*\*|__)?[ \t]{0,3}(?:->|=>|[:=|]|\?(?=[ \t]))"
    r"[ \t]{0,4}(?:\*\*|__)?[ \t]{0,3}(?![:=|])"
)
_GIVES: Final = rf"{_MEANT}(?:,?[ \t]c'est[ \t]|{_SIGN}|[ \t]{_IS})"
# Somebody logs in with a password, or is user ann, password ….
_WITH: Final = (
    r"(?:(?:con|com|with|using|mit|avec|met)[ \t](?:(?:the|an?|o|de[mn]|le|la|el|il|het)[ \t])?"
    r"|(?:user(?:[ -]?name)?|login|benutzer(?:name)?|utilisateur|identifiant|usuario|utente"
    r"|gebruiker(?:snaam)?)[ \t:=]{1,3}[\w.@-]{1,40},?[ \t](?:(?:and|und|et|y|e|en|/)[ \t])?"
    r"|(?:[,;/]|[ \t](?:and|und|et|y|e|en))[ \t](?:(?:the|das|le|la|el|il|a|o|het)[ \t])?)\Z"
)
_CHANGE: Final = (
    r"(?:chang|andern|\bset\b|reset|updat|rotat|geander|gesetzt|modifi|mis\b|cambi|pus[eo]|puest"
    r"|impost|mud|alter|defin|tro[cq]|verander|gewijzigd|ingesteld|gezet|\bzet\b|umgestellt|wechsel"
    r"|ersetz|remis\b|remplac|replac|switch|swap|\bmade\b|cho(?:se|os)|pick|gewahlt|choisi|elegi"
    r"|eligi|scelt|mess[oa]\b|metti|escolh|coloqu|coloca|gekozen|\bkies|\bput\b)"
)
_TO: Final = (
    rf"{_MEANT}(?:[ \t]\w{{2,12}}){{0,3}}?"
    r"[ \t](?:to|auf|zu|en|a|in|para|per|por|pr[ao]|naar|op|con|com)[ \t]"
)
_AS: Final = (
    r"(?<!\S)[\"'`]?([^\s\"'`<>|]{4,80})(?<![,;:])[\"'`]?[ \t]"
    r"(?:as|is|was|als|ist|war|comme|est|como|es|come|e)[ \t](?:[\w-]{1,12}[ \t]){0,3}\Z"
)
_AND_NO_MORE: Final = rf"[ \t]{{0,2}}(?:(?:[a-z]{{2,12}})?(?:[.,;:!?)\n]|\Z)|{_OF}[ \t])"
_GIVEN: Final = (
    r"(?:(?P<quote>[\"'`])[ \t]?(?P<quoted>[^\"'`\n]{4,80}?)[ \t]?(?P=quote)"
    r"|[\"'`]?(?P<bare>[^\s\"'`<>|]{4,200}+))"
)
# In a URL or a line of settings another name follows the value.
_NEXT_NAME: Final = r"[&;,](?=[\w.-]{1,40}=)"
# A value alone on the next line.
_BELOW: Final = r"\r?\n[ \t]{0,8}[\"'`]?([^\s\"'`<>|]{6,80})[\"'`]?[ \t]{0,4}(?=\r?\n|\Z)"
# A sign between letters and digits, which says enough without a verb.
_SURE: Final = r"(?=.{8})[\w.-]*+(?:[!#$%&*+^~][\w.-]*+){1,9}\Z"
_PHRASE: Final = r"([^\W_]{1,20}(?:[ -][^\W_]{1,20}){2,9}+)[ \t]{0,4}(?=[.,;\n]|\Z)"


# Commands that write into a pipe, which is not the border of a table.
_COMMAND: Final = (
    r"[$;]|(?:\A|[|&;])[ \t]{0,8}(?:awk|cat|cut|echo|gpg|grep|head|pass|printf|read|sed|tail|tr)"
    r"[ \t]"
)


class _Value(NamedTuple):
    """A value in a sentence.

    Attributes:
        text: The value, without final punctuation.
        start: Where it begins.
        quoted: Whether it is quoted.
    """

    text: str
    start: int
    quoted: bool

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return self.start, self.start + len(self.text)


def _values(mention: _Mention) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values that belong to a name."""
    if mention.family != "login":
        yield from _next(mention)
    line = f"{mention.before()} {mention.behind()}"
    # What is called a pin may also hold a wire, or a version.
    if mention.family == "pin" and mention.name() not in ("pin", "Pin"):
        beside = compiled(_BESIDE).match(mention.text, mention.end)
        yield from [beside.span(1)] if beside else []
    if mention.family == "pin" or (mention.family != "key" and compiled(_HINT).search(line)):
        if mention.family not in {"pin", "login"}:
            yield from _framed(mention)
        if mention.family != "token":
            yield from _near(mention)


def _next(mention: _Mention) -> Iterator[tuple[int, int]]:
    """Yield the span of the value next to the name, if there is one."""
    gives = compiled(_GIVES).match(mention.lowered, mention.end)
    if gives and "|" in gives[0] and compiled(_COMMAND).search(mention.before()):
        return
    if gives:
        value = _value(mention.text, gives.end())
        if value and _is_given(mention, value, gives[0]):
            yield value.span
        elif value is None and (below := compiled(_BELOW).match(mention.text, gives.end())):
            if _is_convincing(mention.family, below[1]):
                yield below.span(1)
        elif mention.family == "phrase":
            # A phrase may go on to the end of its line or sentence.
            phrase = compiled(_PHRASE).match(mention.text, gives.end())
            if phrase and _is_phrase(phrase[1]):
                yield phrase.span(1)
    elif mention.family in {"pass", "password", "token"}:
        value = _before_or_behind(mention)
        if value and _is_convincing(mention.family, value.text):
            yield value.span


# A number of a PIN, beside its name or behind what it opens: "PIN 0042", "PIN for the gate: 0042".
_BESIDE: Final = (
    r"(?:(?:[ \t][^\s\d.:;,]{1,15}){1,4}:)?[ \t]{1,3}[\"'`(]?([0-9]{4,8})(?![\w/-]|[.:,][0-9])"
)
# A word on the way to a value, other than the name of a user.
_WORD: Final = (
    r"[ \t](?!user|login|benutzer|usuari|utent|identifiant|gebruiker|utili[zs]a[dt]|e-?mail)"
    r"[^\s,;:.!?()\"`<>|]{1,15}"
)
# A possible password: it has a digit or a sign.
_LIKELY: Final = r"[\"'`(]?(?=\S{0,79}?[0-9!#$%&*+=?^~])([^\s\"'`<>|]{6,80})[\"'`]?"
_ENTER: Final = (
    r"(?<![a-z])(?:typ|enter|key in|punch|put|us(?:e|ing)\b|try|paste|giv|fill|log(?:ged)?[ -]?in"
    r"|sign in|tipp|gib|geb|nimm|nehm|benutz|verwend|trag|schreib|meld|tap|mets|mett|entr|saisi"
    r"|utilis|connect|escrib|pon|pus|tecl|met[ae]|us[aeo]|introdu|ingres|inici|acced|scriv|digit"
    r"|inser|insir|escrev|colo[cq]|poe|vul|gebruik|voer|toets)[a-z]{0,8}(?![ \t](?:as|als|como|come"
    r"|comme)[ \t])"
)
_WHEN: Final = (
    r"(?:when(?:ever)?|if|once|where|at|as|for|in(?:to)?|wenn|falls|sobald|wo|bei[m]?|als|fur|ins?"
    r"|im|quand|lorsqu\w*|si|ou|a|au|comme|pour|dans|en|cuando|donde|al|como|de|por|para|quando|se"
    r"|dove|come|per|alla|nel|di|onde|na|no|ao|wanneer|zodra|waar|bij|voor|op)"
)
# Somebody asks for the password, with \0 in the place of the name.
_ASKED: Final = (
    r"(?<![a-z])(?:(?:ask|prompt|want|request|need|frag|gefragt|verlang|will\b|demand|reclam|pid"
    r"|pregunt|solicit|chied|richied|ped|pergunt|vraag|gevraagd|wil\b)"
    r"|(?:for|at|as|fur|beim?|zum|als|pour|comme|para|como|per|come|voor|bij)"
    r"(?:[ \t](?:the|an?|das|dem|le|la|el|il|o|het|een))?[ \t]\0)"
)
_THAT: Final = (
    r"(?:(?:that|this|it|which|das|dies|es|ce|es[aeo]|est[ae]|quest[ao]|quell[ao]|ess[ea]|isso|dat"
    r"|dit|so)[ \t])?(?:(?:that|it)'s|c'est|is|was|ist|war|es|era|e|sera|lautet|heisst)"
)
_END: Final = rf"[ \t]{{0,2}}(?:[.,;:!?)\n]|\Z)|[ \t]{_OF}[ \t]"
_KNOWN: Final = (
    r"(?<![a-z])(?:know|remember|recall|weiss|kenne?|merk|erinner|sais|connais|rappel|souvien|se"
    r"|conozco|recuerdo"
    r"|acuerdo|so|conosco|ricordo|sei|conheco|lembro|weet|ken|herinner|onthou)[a-z]{0,3}(?![a-z])"
)
# The former password: (antes …).
_ONCE: Final = (
    rf"(?:[(,;\u2013-][ \t]?|(?<![a-z])(?:and|und|et|y|ed?|en)[ \t])(?:before(?: that)?|previously"
    rf"|formerly|the old one|old|it used to be|used to be|vorher|fruher|zuvor|bisher|davor|alt"
    rf"|das alte|avant|auparavant|l'ancien|antes|anteriormente|la (?:vieja|anterior)|prima"
    rf"|in precedenza|la vecchia|a antiga|eerst|eerder|voorheen|vroeger|het oude|the new one|(?:das"
    rf"|der|die|het) neue|le nouveau|la nouvelle|la nueva|la nuova|a nova|de nieuwe)(?:[ \t](?:it"
    rf"|that|was|war|es|das|c'etait|etait|est|era|het|ze|is|ist|e|lautet)){{0,2}}:?[ \t]{_LIKELY}"
)
# Type … when it asks for the password; le puse … de contrasena.
_ENTERED: Final = (
    rf"(?:{_ENTER}|{_CHANGE}[a-z]{{0,8}})(?:{_WORD}){{0,4}}?[ \t]{_LIKELY}(?:{_WORD}){{0,3}}?"
    rf",?[ \t]{_WHEN}(?:{_WORD}){{0,5}}[ \t]\Z"
)
# Can you log in with …? That is the password of Jens.
_SAID: Final = rf"(?<=[.,;:!?)])[ \t]{{1,2}}(?:[\u2013-][ \t])?{_THAT}(?:{_WORD}){{0,3}}[ \t]\Z"
_USED_AND_SAID: Final = (
    rf"(?:{_ENTER}|(?<![a-z])(?:with|mit|avec|con|com|met))(?:{_WORD}){{0,3}}?[ \t]{_LIKELY}"
    rf"(?:{_WORD}){{0,4}}[.,;:!?)]{{0,2}}" + _SAID
)
# Changed the password from … to ….
_FROM_TO: Final = (
    rf"(?:{_WORD}){{0,4}}?[ \t](?:from|von|vom|d[eu]|da|dal|desde|van)[ \t]{_LIKELY}"
    rf"[ \t](?:to|into|auf|zu|nach|in|en|a|al?|par|para|por|pr[ao]|per|naar)[ \t]{_LIKELY}"
)
# Set the password to … instead of ….
_INSTEAD: Final = (
    rf"[^;!?]{{0,80}}?[ \t](?:instead of|rather than|(?:an)?statt|au lieu de|en vez de|en lugar de"
    rf"|invece di|al posto di|em vez de|em lugar de|in plaats van)[ \t]{_LIKELY}"
)
_KNOWN_ALREADY: Final = (
    rf"(?:,?{_WORD}){{0,6}}?[ \t]?[,:;\u2013-]{{1,2}}(?:[ \t](?:it's|it is|that's|es|c'est|e|is"
    rf"|ist))?[ \t]{_LIKELY}[ \t]*(?:(?<=[.,;:!?)])|\Z)"
)
# When it asks for the password, type …; als Passwort nimm ….
_THEN_ENTERED: Final = (
    rf"(?:{_WORD}){{0,4}}?[ \t]?[,:;?]?(?:{_WORD}){{0,3}}?[ \t](?:{_ENTER}|{_CHANGE}[a-z]{{0,8}})"
    rf"(?:{_WORD}){{0,3}}?[ \t]{_LIKELY}"
)
_THEN_SET: Final = (
    rf"(?:{_WORD}){{0,4}}?[ \t]?[,:;?]?(?:{_WORD}){{0,4}}?[ \t]{_LIKELY}"
    r"[ \t](?:ein|in|eingeben|eintippen|eintragen|nehmen|benutzen|verwenden|angeben|gesetzt|gewahlt"
    r"|genommen|eingegeben|benutzt|verwendet|invullen|intypen|invoeren|intoetsen|gebruiken|gekozen"
    r"|ingesteld|gebruikt|gezet)(?![a-z])"
)
_AFTER: Final = (
    (_FROM_TO, _CHANGE),
    (_INSTEAD, _CHANGE),
    (_KNOWN_ALREADY, _KNOWN),
    (_THEN_ENTERED, _ASKED),
    (_THEN_SET, _ASKED),
)
# Values behind these names are not passwords.
_CALLED: Final = (
    r"(?<![a-z])(?:user|login|name|account|konto|compte|cuenta|conta|benutzer|usuari|utent|utilisat"
    r"|utilizad|identifiant|gebruiker|e-?mail|build|commit|branch|version|release|firmware|ticket"
    r"|issue|host|server|serve[uo]r|servidor|device|model|install|printer|drucker|imprimante|rout"
    r"|netz|network)[a-z]{0,8}[ \t:]{1,2}[\"'`(]?\Z"
)
_CALLING: Final = 24
# Words that say that there is no password.
_WITHOUT: Final = (
    r"(?<![a-z])(?:no|not|without|instead of|rather than|ohne|kein\w{0,2}|(?:an)?statt|sans|pas de"
    r"|au lieu d[eu']|sin|en vez de|senza|invece d\w{1,3}|nessuna|sem|em vez d\w|zonder|geen"
    r"|in plaats van)(?:[ \t](?:an?|any|the|eine[msn]?|une?|una?|uma|een))?[ \t]\Z"
)
_HINT: Final = r"(?<![^\s\"'`(<>|])(?=[^\s\"'`<>|]{0,79}?[0-9!#$%&*+=?^~])[^\s\"'`<>|]{6}"
# A product with its number: KeePass2.
_PRODUCT: Final = (
    r"[A-Z][A-Za-z]+[0-9]\Z"
    r"|(?i:(?:office|microsoft)[-_]?365|windows[-_]?1[01]|fritz!box[-_]?[0-9]*)\Z"
)


def _framed(mention: _Mention) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values that a whole sentence connects with the name."""
    before, behind = mention.before(), mention.behind()
    if compiled(_WITHOUT).search(before):
        return
    patterns = (_ENTERED, _USED_AND_SAID) if compiled(_END).match(behind) else (_ENTERED,)
    in_front = [compiled(pattern).search(before) for pattern in patterns]
    matches = [(match, mention.start - len(before)) for match in in_front if match]
    for pattern, cue in _AFTER:
        if match := compiled(pattern).match(behind):
            near = behind if pattern == _FROM_TO else behind[: match.start(1)]
            if compiled(cue).search(f"{before}\0{near}"):
                matches.append((match, mention.end))
    matches += [(match, mention.end) for match in compiled(_ONCE).finditer(behind)]
    for match, at in matches:
        for group in range(1, match.re.groups + 1):
            first = at + match.start(group)
            text = mention.text[first : first + len(match[group])].rstrip(".,;:)]}")
            product = compiled(_PRODUCT).match(text)
            if not (_is_called(mention, first) or product) and _is_convincing(mention.family, text):
                yield first, first + len(text)


def _is_called(mention: _Mention, start: int) -> bool:
    """Whether the value that begins at ``start`` is the name of something else."""
    return bool(compiled(_CALLED).search(mention.lowered, max(0, start - _CALLING), start))


def _before_or_behind(mention: _Mention) -> _Value | None:
    """Return the value that is, or became, the password, or that somebody logs in with."""
    before = mention.before()
    match = compiled(_AS).search(before)
    if match and compiled(_AND_NO_MORE).match(mention.lowered, mention.end):
        start = mention.start - len(before) + match.start(1)
        return _Value(mention.text[start : start + len(match[1])], start, quoted=False)
    changed = compiled(_CHANGE).search(before + mention.behind())
    if changed and (to := compiled(_TO).match(mention.lowered, mention.end)):
        return _value(mention.text, to.end())
    value = _value(mention.text, mention.end + 1)
    if value and compiled(_SURE).match(value.text) and any(map(str.isdigit, value.text)):
        return value
    return value if changed or compiled(_WITH).search(before) else None


def _value(text: str, at: int) -> _Value | None:
    match = compiled(_GIVEN).match(text, at)
    if not match:
        return None
    if match["quoted"]:
        return _Value(match["quoted"], match.start("quoted"), quoted=True)
    bare = compiled(_NEXT_NAME).split(match["bare"], 1)[0]
    return _Value(bare.rstrip(".,;:)]}"), match.start("bare"), quoted=False)


# ---- sentences near the name ----

_NEW: Final = r"[\"'`(]?([^\s\"'`<>|]{4,80})[\"'`]?"
# Pronouns for the name: it, the new one, la del portatil.
_IT: Final = (
    r"(?:(?:it|that|this|which|mine|yours|er|es|das|dies|ce|cela|ca|il|elle|esta|questa|isso|esta"
    r"|het|dat|dit|die)"
    r"|(?:the|my|our|your)[ \t](?:[\w-]{1,20}[ \t])?(?:one|new|right)"
    r"|(?:das|die|celui|celle|la|el|quella|quello|a|o|dat)[ \t]"
    rf"(?:{_OF}[ \t](?:[\w'-]{{1,20}}[ \t]?){{1,3}}?|nueva|nouveau|nuova|nova|nieuwe))"
)
_SO: Final = (
    r"(?:and|but|so|now|und|jetzt|nun|neu|et|maintenant|desormais|donc|y|ahora|asi que|ed?|ora"
    r"|adesso|quindi|agora|entao|en|nu|dus)"
)
# A new clause with the value: now it's …, heisst nun …, celui du NAS, c'est ….
_ANAPHOR: Final = (
    rf"(?:\A(?=[ \t]\w{{1,3}}[ \t]back)|[.,;:!?)(\u2013-]|(?=(?:[ \t]{_SO}){{2}}))[ \t]{{0,2}}(?:"
    rf"{_SO}[ \t]){{0,2}}(?:(?:it|that)'s|(?:{_IT},?[ \t])?c'est|(?:{_IT},?[ \t]?)?(?<![a-z])"
    rf"{_COPULA}){_STILL}:?[ \t](?:(?:die|der|das|the|le|la|el|il|o)[ \t])?{_NEW}"
)
# As always, but …: then the value is at the end.
_ALIKE: Final = (
    rf"(?<![a-z])(?:(?:same|as|than)[ \t](?:as[ \t])?(?:always|before|ever|usual)|wie (?:immer"
    rf"|sonst)|que d'habitude|de siempre|como siempre|de sempre|di sempre|solit[ao]|mesma"
    rf"|als (?:altijd|eerst))[^.!?]{{0,60}}?(?:[:,]|[:,][ \t]{_SO})[ \t]{_NEW}"
)
# Its spelling: with a capital O, all in one word, a 7 at the end.
_SPELT: Final = (
    r"(?<![a-z])(?:capital|uppercase|lower ?case|upper ?case|at the end|all one word"
    r"|gross(?:e[mns]?|geschrieben)?[ \t:]|hinten|am ende|kleine[mns]?|zusammengeschrieben"
    r"|majuscul|minuscul|mayuscul|maiuscol|minuscol|maiuscul|a la fin|al final|in fondo|alla fine"
    r"|no fim|tutto attaccato|todo junto|tudo junto|hoofdletter|kleine letter|erachter|aan elkaar)"
)
_RULES: Final = (
    r"(?<![a-z])(?:must|at least|should|require|mindestens|au moins|al menos|minimo|almeno"
    r"|pelo menos|minstens)"
)
# The name comes last: …, la contrasena digo.
_APPENDED: Final = (
    rf"(?<![^\s\"'`(]){_LIKELY}(?:,?(?:[ \t][^\s,;:.!?]{{1,15}}){{0,4}})[ \t]?[,(]"
    r"(?:[ \t]?[a-z]{1,5}){0,3}[ \t]?\Z"
)
_MEANING: Final = (
    r"(?:[ \t](?:i mean|that is|meine ich|je veux dire|digo|quiero decir|intendo|dico|quero dizer"
    r"|bedoel ik))?[ \t]{0,2}(?:[.,;:!?)]|\Z)"
)
# Letters, a digit and a sign inside, as only passwords have; not an issue, a variable or a URL.
_UNLIKE_WORDS: Final = (
    r"(?<![^\s\"'`(])(?=\S{0,24}[0-9])(?=\S{0,24}[A-Za-z])(?!\S{0,24}(?:\$[A-Z_]|%[0-9A-Fa-f]{2}))"
    r"(?!\S{0,24}[#$][0-9])([A-Za-z0-9](?=[\w.+&*?-]{0,22}[!#$%^][\w!#$%^])[\w.+&*?!#$%^-]{7,24})"
    r"(?=[\s\"'`),;:]|\Z)"
)
# Two letters and a number: a ticket, a part.
_TICKET: Final = r"[A-Z]{2,10}-[0-9][0-9A-Z-]*\Z"


def _near(mention: _Mention) -> Iterator[tuple[int, int]]:
    """Yield the spans of the values in a clause near the name: about *it*, or its spelling."""
    before, behind = mention.before(), mention.behind()
    first = mention.start - len(before)
    line = f"{before}{mention.name()}{behind}"
    matches = [(mention.end, match) for match in compiled(_ANAPHOR).finditer(behind)]
    matches += [(mention.end, match) for match in compiled(_ALIKE).finditer(behind)]
    if compiled(_MEANING).match(behind):
        matches += [(first, match) for match in compiled(_APPENDED).finditer(before)]
    if mention.family != "pin":
        if compiled(_SPELT).search(line) and not compiled(_RULES).search(line):
            matches += [(first, match) for match in compiled(rf"(?<!\S){_NEW}").finditer(line)]
        given = mention.text[first : first + len(line)]
        matches += [(first, match) for match in compiled(_UNLIKE_WORDS).finditer(given)]
    for at, match in matches:
        start = at + match.start(1)
        text = mention.text[start : at + match.end(1)].rstrip(".,;:)]}")
        if mention.family == "pin":
            fits = bool(compiled(_NUMBER).match(text))
        else:
            named = compiled(_PRODUCT).match(text) or compiled(_TICKET).match(text)
            fits = not named and _is_convincing(mention.family, text)
        if fits and not _is_called(mention, start):
            yield start, start + len(text)


# ---- whether a value is a secret ----

# A number for a door or a machine: 2584#, 38B12.
_NUMBER: Final = r"(?:[0-9]{4,8}|(?=[A-Z0-9]*[0-9])[A-Z0-9]{4,8}|[0-9]{2}(?:-[0-9]{2}){2})[#*]?\Z"

_SHORT: Final = 6
# A sign that no name has, or a letter beside a digit.
_CHOSEN: Final = (
    r"\w[!#$%^*+&~]{1,2}\w|[0-9]\?[A-Za-z]|[!#$%^*&~]{2}|[A-Za-z][._-]?[0-9]|[0-9][A-Za-z]"
)
# A product, a number of characters, a path, an address.
_TALK: Final = (
    r"(?i:1password|[0-9]{0,2}m?fa\b|wpa[0-9]?\b|[0-9]{1,3}-?[a-z]+\Z|(?:alt|cmd|command|ctrl|maj"
    r"|mayus|shift|strg|umschalt|win)[+-])|[^/]*/[^!#$%^*&~]*\Z|[^@]+@[\w-]+\."
)
_DOTTED: Final = r"(?=\D{0,40}[0-9])(?=[^A-Z]{0,40}[A-Z])[A-Za-z0-9]+\.[A-Za-z0-9]+\Z"
_OWN: Final = (
    r"\b(?:meine?|unser|dein|mon|notre|ton|votre|mi|nuestra|tu|su|mia|nostra|tua|minha|nossa|sua"
    r"|mijn|onze|ons|jouw)(?:[ \t]\S{1,20}){0,2}[ \t]\Z"
)
_TALK_IN_WORDS: Final = word_set(
    """
    any are ask can choose dans deve doit empty enter est has have im in is ist kept known least
    liegt may moet must nicht niet not of only pas pick random required same see should siehe steht
    stored the think to type use usually ver vide voir was will wird words your
    """
)


def _is_given(mention: _Mention, value: _Value, gives: str) -> bool:
    """Whether a value right behind its name is a secret."""
    text = value.text
    match mention.family:
        case "password" | "phrase":
            return _is_password(mention, value, gives)
        case "pin":
            return bool(compiled(_NUMBER).match(text))
        case "key":
            return not is_public(text) and is_random_key(text, gives)
        case "pass" if "=" in gives:
            return False
    return _is_convincing(mention.family, text)


def _is_password(mention: _Mention, value: _Value, gives: str) -> bool:
    text = value.text
    if " " in text:
        phrase = mention.family == "phrase" or mention.name().startswith("parola")
        return phrase and (_is_phrase(text) or (value.quoted and text.count(" ") > 1))
    if text.isdigit():
        return len(text) >= _SHORT
    if "=" not in gives and compiled(_DOTTED).match(text):
        return True
    made = _is_chosen(text) or _is_word(mention, value, gives)
    return made and not is_reference(text)


def _is_chosen(text: str) -> bool:
    """Whether ``text`` looks like a password, and not like a product, a path or an address."""
    core = text.rstrip("!?")
    if len(core) < _SHORT or compiled(_TALK).match(core):
        return False
    return bool(compiled(_CHOSEN).search(core)) or is_odd(core)


def _is_convincing(family: str, text: str) -> bool:
    if family == "token":
        return is_opaque(text) and not is_public(text) and not is_reference(text)
    if not _is_chosen(text) or (is_reference(text) and not compiled(_DOTTED).match(text)):
        return False
    digit = any(map(str.isdigit, text))
    return _is_strong(text) or (digit and any(map(str.isupper, text)))


def _is_word(mention: _Mention, value: _Value, gives: str) -> bool:
    """Whether a plain word is the password: it is quoted, or somebody's own."""
    text, end = value.text, value.start + len(value.text)
    if not text.isalpha() or len(text) < _SHORT or is_saying(text):
        return False
    if value.quoted:
        return gives.endswith(" ") and "=" not in gives and "|" not in gives
    if not compiled(r"(?:\Z|[.,;!\n])").match(mention.text, end) or not text[0].isupper():
        return False
    return "lautet" in gives or bool(compiled(_OWN).search(mention.before()))


def _is_phrase(text: str) -> bool:
    # In German a noun may end so, and has a capital: Hering.
    words = text.split()
    said = any(word.lower() in _TALK_IN_WORDS for word in words)
    talk = said or any(word.endswith(("ed", "ing")) and word.islower() for word in words)
    return text.count(" ") > 1 and not talk
