"""By which words a sentence shows that it decides, leaves open, agrees, or tells what can be used.

Promises: pure; any string may be passed; linear time. English and German, and the commonest words
of French and Spanish.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from engramdown.consolidation.statements.verbs import is_order
from engramdown.language.words import word_set

__all__ = [
    "agrees",
    "asks_for",
    "decides",
    "files_in",
    "is_file",
    "leaves_open",
    "names",
    "orders",
    "proposes",
    "tells",
    "to_the_point",
]


def decides(said: str) -> bool:
    """Whether a sentence says what was decided.

    >>> decides("We decided to keep SQLite."), decides("Nehmen wir lieber Postgres."), decides("Hm")
    (True, True, False)
    """
    return _has(_DECIDES, said)


def orders(said: str) -> bool:
    """Whether a sentence of a user says how it shall be, or that it is wrong as it is.

    >>> orders("No, the port should be 8081."), orders("Please never push."), orders("It is late.")
    (True, True, False)
    """
    return _has(_ORDERS, said)


def asks_for(said: str) -> bool:
    """Whether a sentence of a user asks that something be done.

    >>> asks_for("Please add a test"), asks_for("Add it first"), asks_for("It rolls back")
    (True, True, False)
    """
    words = said.replace("\u2019", "'").lower()
    return _has(_ASKS_FOR, words) or is_order(words)


def proposes(said: str) -> bool:
    """Whether a sentence of an assistant says what could be done.

    >>> proposes("I would cache it"), proposes("I cached it")
    (True, False)
    """
    return _has(_PROPOSES, said)


def to_the_point(said: str) -> str:
    """Return a sentence without the nods that it begins with, if enough is left.

    >>> to_the_point("Oh nice, thanks! We sell tea"), to_the_point("Sure, why not")
    ('We sell tea', 'Sure, why not')
    """
    start = _pattern(_OPENERS).match(said)
    rest = said[start.end() :] if start else said
    return rest if len(rest.split()) >= _ENOUGH else said


def leaves_open(said: str) -> bool:
    """Whether a sentence says that something is still to be done.

    >>> leaves_open("TODO: rotate the key"), leaves_open("Das fehlt noch."), leaves_open("Done.")
    (True, True, False)
    """
    return _has(_OPEN, said)


def agrees(said: str) -> bool:
    """Whether a sentence says yes and hardly more.

    >>> agrees("Sounds good!"), agrees("Ja, bitte"), agrees("Yes, but only on Mondays after lunch")
    (True, True, False)
    """
    return _pattern(_AGREES).fullmatch(said.strip()) is not None


def tells(said: str) -> bool:
    """Whether a sentence has a number: a version, an amount, a date, an id.

    >>> tells("Python 3.12 it is"), tells("It is late.")
    (True, False)
    """
    return _has(r"\d", said)


def names(said: str) -> bool:
    """Whether a sentence names something: a person, an identifier, an address.

    >>> names("ask Maria"), names("see `main`"), names("the user_id"), names("It is late.")
    (True, True, True, False)
    """
    return re.search(_NAMES, said) is not None


def files_in(text: str) -> list[str]:
    """Return the files that a text names, in order.

    >>> files_in("see src/app.py:12 and ./Makefile, not https://x.org/a.py or e.g. and/or v1.2")
    ['src/app.py', './Makefile']
    """
    found = []
    for match in _pattern(r"[\w.@+~/\\:-]+").finditer(text):
        word = _pattern(r"(?:::.*|(?::[0-9]+)*+[.:]*)\Z").sub("", match[0][:_LONGEST_PATH])
        if is_file(word):
            found.append(word)
    return found


def is_file(word: str) -> bool:
    """Whether a word is the path or the name of a file.

    >>> is_file("a/b.py"), is_file("Node.js"), is_file("example.com")
    (True, False, False)
    """
    if "://" in word or word.lower() in _NO_FILES:
        return False
    return _pattern(_FILE).fullmatch(word) is not None


_LONGEST_PATH: Final = 200
_ENOUGH: Final = 3
_NO_FILES: Final = word_set(
    "console.log d3.js express.js next.js node.js nuxt.js process.env react.js three.js vue.js"
)
_ENDINGS: Final = (
    "bash|bat|c|cc|cfg|conf|cpp|cs|css|csv|cu|db|dockerfile|docx|env|erb|ex|exs|gif|go|gradle|h|hpp"
    "|hs|html|ini|ipynb|java|jinja|jpg|js|json|jsonl|jsx|kt|lock|log|lua|md|mjs|ml|mod|mp4|odt"
    "|parquet|pdf|php|pkl|pl|png|pptx|proto|ps1|py|pyi|r|rb|rs|rst|sass|scala|scss|sh|sql|sqlite"
    "|sqlite3|sum|svelte|svg|swift|tex|tf|tfvars|toml|ts|tsv|tsx|txt|vue|wasm|xlsx|xml|yaml|yml|zig"
    "|zip|gz|tar|zsh|j2"
)
_FILE: Final = (
    r"(?:~?/|\.{1,2}/|[a-z]:[\\/])?(?:[\w.@+-]+[/\\])*+"
    rf"(?:[\w.@+-]*[\w@+-]\.(?:{_ENDINGS})"
    r"|Makefile|Dockerfile|Jenkinsfile|Procfile|Gemfile|Rakefile|LICENSE"
    r"|\.(?:env|gitignore|dockerignore|editorconfig|gitattributes|npmrc|bashrc|zshrc))"
)

_DECIDES: Final = (
    # English
    r"\b(?:decided|decision|agreed|settled (?:on|for)|opted for|approved|rejected|ruled out"
    r"|(?:go(?:ing|es)?|went) with|stick(?:ing)? (?:with|to)|stay(?:ing)? (?:with|on)"
    r"|switch(?:ed|ing)? (?:[\w.-]+ ){0,3}to|migrat(?:e|ed|ing) (?:[\w.-]+ ){0,3}to|chose|chosen"
    r"|picked|instead|rather than|in favou?r of"
    r"|let'?s (?!see|look|check|hope|think|say|talk|discuss|dive|walk|find|start by|recap)\w+"
    r"|let us (?!know)\w+|we(?:'ll| will| won't|'re going to| are going to| agreed| never| always)"
    r"|from now on|no longer)\b"
    # German
    r"|\b(?:entschieden|entscheidung|beschlossen|abgemacht|vereinbart|geeinigt|einigen uns"
    r"|einverstanden|lass(?:t|en sie)? uns|nehmen wir|wir (?:nehmen|verwenden|benutzen|nutzen"
    r"|bleiben|setzen|machen|werden)|stattdessen|statt|anstatt|anstelle|lieber|bleiben (?:wir )?bei"
    r"|doch nicht|sondern|ab (?:jetzt|sofort))\b"
    # French and Spanish
    r"|\b(?:décidé|convenu|au lieu de|plutôt|à la place|prenons|utilisons|gardons|restons sur"
    r"|on (?:prend|garde|utilise|part sur)|je préfère|désormais)\b"
    r"|\b(?:decidi(?:do|mos)|acorda(?:do|mos)|en (?:vez|lugar) de|vamos (?:a usar|con)|usemos"
    r"|usaremos|quedamos en|nos quedamos con|prefiero|a partir de ahora)\b"
)
_ORDERS: Final = (
    r"\A\W*(?:(?:please|then|and|so|but|also|just|ok(?:ay)?|yes|yeah|bitte|und|dann|also"
    r"|ja)\b,? )*+(?:use|keep|don'?t|do not|never(?! mind)|always|only|make sure|avoid|stop|leave"
    r"|no(?:pe)?\b(?! (?:problem|worries|idea|rush))|wrong|actually|not quite|not that|that'?s not"
    r"|that'?s wrong|i (?:meant|said|prefer|want|need|would like)|correction|scratch that"
    r"|nimm|nutze?|verwende|benutze?|behalte?|nein|nicht|nie(?:mals)?|immer|nur|kein\w*|falsch"
    r"|eigentlich|ich (?:meinte|möchte|will|brauche)|achte"
    r"|utilise[rz]?|garde[rz]?|jamais|toujours|non|en fait|usa|utiliza|nunca|siempre|en realidad)\b"
    r"|\b(?:should (?:be|have|stay|use|go|not)|must(?: not|n'?t)?|has to|have to|at (?:most|least)"
    r"|no more than|not \w+,? but|i(?:'d| would) (?:rather|prefer)|i prefer"
    r"|soll(?:te|ten|en)?|muss|müssen|darf|dürfen|höchstens|mindestens"
    r"|doit|doivent|il faut|debe|deben|hay que)\b"
)
_OPEN: Final = (
    r"\b(?:todo|fixme|to-do|still (?:need|needs|have|has|missing|open|to)|yet to|left to do"
    r"|remains? to|not (?:done )?yet|next step|follow-?up|unresolved|open question"
    r"|(?:i'm|we're|we are|still) waiting|blocked (?:by|on)|needs? to be"
    r"|offen|noch zu|fehlt noch|steht noch aus|müssen wir noch"
    r"|wartet auf|reste à|à faire|falta|pendiente|por hacer)\b"
)
_ASKS_FOR: Final = (
    r"\bplease\b|\bbitte\b|\A\W*(?:can|could|would) (?:you|we)\b|\b(?:kannst|könntest) du\b"
    r"|\A\W*(?:i|we) (?:need|want|have) to\b|\bi(?:'d| would) like (?:you )?to\b"
    r"|\A\W*(?:dann |und )?(?:ändere?|baue?|entferne?|ergänze?|erkläre?|erstelle?|finde?|füge"
    r"|gib|lass|lege?|lies|lösche?|mache?|nimm|prüfe?|schau|schreibe?|setze?|stelle?|suche?|teste?"
    r"|übersetze?|verschiebe?|zeige?)\b|\bs'il (?:te|vous) pla[iî]t\b|\bpor favor\b"
)
_PROPOSES: Final = (
    r"\b(?:i(?:'d| would| could| can| might| suggest| recommend| propose)"
    r"|you (?:could|can|might|may)|could|might|options?|alternatively|either|for example|usually"
    r"|would be|ich (?:schlage|würde|kann|könnte|empfehle)|könnte[nt]?|wäre|alternativ"
    r"|je pourrais|podría)\b"
)
_OPENERS: Final = (
    r"(?:\s*(?:oh|ah|aha|ok(?:ay)?|so|well|right|great|good|nice|cool|wow|phew|perfect|lovely"
    r"|thanks|thank you(?: so much)?|sounds good|good (?:idea|choice|catch)|great choice|yes|yeah"
    r"|yep|hey|hi|hello|sure|fine|understood|agreed|exactly|of course|done|damn|that makes sense"
    r"|makes sense|gut|gerne?|super|ja|also|hallo|verstanden|passt|sehr gut|genau|klar)"
    r"(?:[,!.:\u2013-]++|(?<=\b[oa]h)(?=\s)))++\s*"
)
_AGREES: Final = (
    r"\W*(?:(?:yes|yeah|yep|yup|sure|ok(?:ay)?|agreed|correct|right|exactly|fine|perfect|great|good"
    r"|sounds (?:good|great|fine|right)|looks good|lgtm|do (?:it|that|so)|go (?:ahead|for it)"
    r"|please(?: do)?|thanks|thank you|absolutely|of course|i agree|works for me|makes sense"
    r"|ja|jawohl|genau|passt|gut|gern|gerne|einverstanden|bitte|mach das|danke|klar|stimmt|richtig"
    r"|oui|d'accord|très bien|parfait|merci|sí|si|vale|de acuerdo|perfecto|gracias)\b\W*){1,5}+"
)
_NAMES: Final = (
    r"`[^`\n]+`|\w_\w|[a-z][A-Z]|\b[A-Z]{2,}\b|@\w|https?://|[\w\")] [A-ZÄÖÜÉ][\w-]*[a-zäöüß]"
)


def _has(pattern: str, said: str) -> bool:
    return _pattern(pattern).search(said.replace("\u2019", "'")) is not None


@cache
def _pattern(source: str) -> re.Pattern[str]:
    """Compile when it is first needed."""
    return re.compile(source, re.IGNORECASE)
