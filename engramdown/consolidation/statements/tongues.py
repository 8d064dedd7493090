"""The commonest forms of words in German, French and Spanish.

Promises: an order or a fact is found only where a sentence begins with it; linear time.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from engramdown.consolidation.statements.facts import WITH_DIGIT
from engramdown.consolidation.statements.forms import Form, reading
from engramdown.engram import Confidence, Kind

__all__ = ["TONGUES"]


class _Words(NamedTuple):
    """A form: what it says, and the pattern whose group ``kept`` begins what is kept."""

    kind: Kind
    confidence: Confidence
    label: str
    pattern: str


_NAME: Final = (
    rf"(?P<kept>(?:[^\s,;:.!?()\d]{{2,30}}|{WITH_DIGIT})(?: (?!und |et "
    rf"|y )(?:[^\s,;:.!?()\d]{{2,30}}|{WITH_DIGIT})){{0,2}})(?=[,;:.!?]|\Z| und | et | y )"
)
_ICH: Final = (
    r"(?:ich|du|er|sie|es|wir|ihr|man|das|der|die|den|dem|ein|eine|mein|meine|dein"
    r"|was|wie|warum|wann|wer|wo|hast|ist|sind|war|hat|habe|haben|wird|kann|noch|fast|so|auch|aber"
    r"|und|nur|schon|ja|nein|hier|da|mir|wenn)\b"
)
_JE: Final = (
    r"(?:je|j|tu|il|elle|on|nous|vous|ils|elles|ce|c|ça|cela|le|la|les|un|une|mon|ma"
    r"|pourquoi|est|es|presque)\b"
)
_FORMS: Final = (
    # German
    _Words(
        "always",
        "high",
        "",
        rf"(?:bitte )?(?P<kept>(?!{_ICH})[^\W\d_]{{2,20}}(?<!t)(?<!st) (?:bitte )?(?:ab (?:jetzt"
        rf"|sofort) )?(?:immer|stets)\b)",
    ),
    _Words(
        "never",
        "high",
        "",
        rf"(?:bitte )?(?P<kept>(?!{_ICH}|sage? )[^\W\d_]{{2,20}}(?<!t) (?:bitte )?(?:nie|niemals"
        rf"|nie wieder"
        rf"|nie mehr)\b)",
    ),
    _Words("always", "high", "", r"(?P<kept>immer [^\n]{3,}[^\W_]en\Z)"),
    _Words("never", "high", "", r"(?P<kept>(?:nie|niemals) (?!im leben\b)[^\n]{3,}[^\W_]en\Z)"),
    _Words(
        "never",
        "high",
        "",
        r"(?:bitte )?(?:ab (?:jetzt|sofort|heute)|in zukunft|künftig"
        r"|zukünftig)(?: bitte)?,? (?P<kept>(?:keine?|nicht|nie|niemals)\b)",
    ),
    _Words(
        "always",
        "high",
        "",
        rf"(?:bitte )?(?:ab (?:jetzt|sofort|heute)|in zukunft|künftig"
        rf"|zukünftig)(?: bitte)?,? (?!bin|ist|wird|habe|kann|geht)(?P<kept>(?!{_ICH})\w)",
    ),
    _Words(
        "always",
        "high",
        "",
        rf"(?:bitte )?(?P<kept>(?!{_ICH})[^\W\d_]{{2,20}}(?<!t) (?:bitte )?(?:ab (?:jetzt|sofort)"
        rf"|in zukunft|künftig)\b)",
    ),
    _Words(
        "never",
        "high",
        "",
        rf"(?:bitte )?(?P<kept>(?:keine?n?"
        rf"|(?!{_ICH})[^\W\d_]{{2,20}}(?<!t)(?: [\w-]+){{0,6}}? (?:nicht"
        rf"|keine?n?)) [^\n]*\bmehr\Z)",
    ),
    _Words(
        "lesson",
        "high",
        "",
        r"(?:bitte )?(?:merke? dir|denke? dran|denke? daran|vergiss nicht|behalte im kopf)(?:,"
        r"| bitte,)? (?:dass|:)? ?(?P<kept>\w+ \w+)",
    ),
    _Words(
        "profile",
        "high",
        "Name:",
        rf"(?:ich heiße|ich heisse|mein name ist)"
        rf" (?!(?:nicht|ja|auch|das|den|dich|es|sie)\b){_NAME}",
    ),
    _Words(
        "profile", "high", "Name:", rf"(?:bitte )?(?:nenne? mich|du kannst mich)(?: bitte)? {_NAME}"
    ),
    _Words(
        "profile",
        "high",
        "Location:",
        rf"(?:ich wohne in|ich lebe in) (?!der|einer|einem|dem){_NAME}",
    ),
    _Words(
        "profile",
        "medium",
        "",
        r"(?P<kept>ich (?:bevorzuge|mag lieber|arbeite (?:bei|als)|bin (?:vegetarier|veganer"
        r"|vegan|allergisch|lehrer|entwickler))\w*\b)",
    ),
    # French
    _Words(
        "always",
        "high",
        "",
        rf"(?:s'il te plaît,? )?(?P<kept>(?!{_JE})[^\W\d_]{{2,20}}(?:e|s|z) toujours\b(?! pas))",
    ),
    _Words(
        "never",
        "high",
        "",
        r"(?P<kept>(?:ne |n')(?!suis|ai|est|sais|peux)[^\W\d_]{2,20} (?:plus )?jamais\b)",
    ),
    _Words(
        "always",
        "high",
        "",
        rf"(?:à partir de maintenant|désormais|dorénavant"
        rf"|à l'avenir),? (?P<kept>(?!{_JE})(?!ne\b|n')\w)",
    ),
    _Words(
        "never",
        "high",
        "",
        r"(?:à partir de maintenant|désormais|dorénavant|à l'avenir),? (?P<kept>(?:ne |n')\w)",
    ),
    _Words(
        "lesson",
        "high",
        "",
        r"(?:souviens-toi|rappelle-toi|n'oublie pas|retiens|note) (?:bien )?(?:que "
        r"|qu')(?P<kept>\w)",
    ),
    _Words(
        "profile",
        "high",
        "Name:",
        rf"(?:je m'appelle|mon nom est|mon prénom est|appelle-moi) {_NAME}",
    ),
    _Words("profile", "high", "Location:", rf"(?:j'habite|je vis) (?:à|au|en) {_NAME}"),
    _Words(
        "profile",
        "medium",
        "",
        r"(?P<kept>je préfère (?!ça|cela|celui|celle|le (?:premier|second|deuxième)"
        r"|la (?:première|seconde|deuxième))\w)",
    ),
    _Words(
        "profile",
        "high",
        "",
        r"(?P<kept>je suis (?:végétarien|végan|allergique|développeu|professeu|infirmi"
        r"|daltonien|gauch)\w*)",
    ),
    # Spanish
    _Words(
        "always",
        "high",
        "",
        r"(?:por favor,? )?(?P<kept>siempre (?!me|te|se|lo|la|le|nos|que|hay|es|está|falla"
        r"|funciona|tarda|llega|pasa|dice|fue|ha|he|igual)\w+(?<!o)(?<!ó)\b)",
    ),
    _Words(
        "always",
        "high",
        "",
        r"(?:por favor,? )?(?P<kept>(?!yo|tú|él|ella|esto|eso|el|la|casi|no|ya"
        r"|como)[^\W\d_]{2,20}(?:a|e) siempre\b)",
    ),
    _Words(
        "never",
        "high",
        "",
        r"(?:por favor,? )?(?P<kept>(?:nunca|jamás) (?:más )?"
        r"(?!jamás|mais|digas nunca|me|te|se|le|nos|sabes|puedes"
        r"|tienes)\w+(?:s|r)\b)",
    ),
    _Words(
        "never",
        "high",
        "",
        r"(?:a partir de ahora|de ahora en adelante|en el futuro),? (?P<kept>(?:no|nunca) \w)",
    ),
    _Words(
        "always",
        "high",
        "",
        r"(?:a partir de ahora|de ahora en adelante|en el futuro),? (?!yo|el|la|los|las|voy"
        r"|será|estaré)(?P<kept>\w)",
    ),
    _Words(
        "lesson",
        "high",
        "",
        r"(?:por favor,? )?(?:recuerda|acuérdate de|ten en cuenta|no olvides) que (?P<kept>\w)",
    ),
    _Words("profile", "high", "Name:", rf"(?:me llamo|mi nombre es|llámame) {_NAME}"),
    _Words("profile", "high", "Location:", rf"vivo en (?!un|una|el|la){_NAME}"),
    _Words(
        "profile",
        "medium",
        "",
        r"(?P<kept>prefiero (?!eso|esto|ese|esa|el (?:primer|segund)|la (?:primer|segund)|no\b"
        r"|esperar)\w)",
    ),
    _Words(
        "profile",
        "high",
        "",
        r"(?P<kept>soy (?:vegetarian|vegan|alérgic|desarrollador|profesor|enfermer|zurd"
        r"|daltónic|diabétic)\w*)",
    ),
)


TONGUES: Final[tuple[Form, ...]] = tuple(
    reading(form.kind, form.confidence, form.pattern, form.label, lasting=True) for form in _FORMS
)
