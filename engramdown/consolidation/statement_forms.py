"""The forms of words in which people give orders, tell facts, prefer and ask to remember.

A table: what is read, in which order, and the words around it that change what it means. A form is
a pattern at the beginning of a clause, in small letters; ``statement_reader`` decides by it what a
sentence says. What holds for a moment, is about something else or only between things at hand is
none; neither is a task ("remember to buy milk"). Patterns are bounded: linear time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from engramdown.engram import Confidence, Kind
from engramdown.language.words import word_set


class Form(NamedTuple):
    """A form of words, and what a clause says that begins with it.

    What is kept begins with the group ``kept``, or where the clause does. A group ``no`` forbids.

    Attributes:
        pattern: What the clause begins with.
        kind: The kind of memory.
        confidence: What the form deserves.
        label: What is put before it: ``Always``; behind ``Name:`` only the group is kept.
        order: Whether an order must follow, is sure to, or stands behind the case.
        passing: What it may not hold: what is said for a while, the same but for what belongs to
            an *always* ("until"), or nothing.
    """

    pattern: str
    kind: Kind
    confidence: Confidence = "high"
    label: str = ""
    order: Literal["", "follows", "surely", "behind"] = ""
    passing: Literal["soon", "firm", ""] = "soon"


BLANK: Final = "\ue000"
"""Stands for each character of a quotation or of code within a sentence; it counts as a letter."""

CAPITAL: Final = "Name: "
"""The label of a name that is one only if each word of it has a capital letter."""


def slips(word: str) -> str:
    """Return a pattern for a word and its slips of the pen behind the first letter.

    A letter is left out, or two that differ have changed places.

    >>> slips("keep")
    '(?:keep|kep|kee|kepe)'
    """
    places = range(1, len(word))
    shorter = [word[:at] + word[at + 1 :] for at in places]
    swapped = [word[:at] + word[at : at + 2][::-1] + word[at + 2 :] for at in places]
    return f"(?:{'|'.join(dict.fromkeys([word, *shorter, *swapped]))})"


# ---- what is said for a while, by others, or about a program ----

_DONT: Final = r"(?:do not|don't|dont|don t|do n't)"
_FROM_NOW: Final = (
    r"(?:from (?:now|here|today|this (?:point|moment|day))(?: on(?:wards?)?| forward)?(?: out)?"
    r"|in (?:all |any )?future (?:sessions?|answers?|chats?|conversations?|replies|messages"
    r"|projects"
    r"|prs|commits|e-?mails|reports|drafts)|(?:going|moving) forwards?|henceforth|hereafter"
    r"|in (?:the )?future|as of (?:now|today)|(?:starting|beginning) (?:now|today|immediately)"
    r"|for (?:all )?(?:the )?future(?: \w{2,12})?|next time|for next time|effective immediately)"
)
_SCREEN: Final = (
    r"(?:customers? (?:adds?|checks? out|clicks?|enters?|hovers?|logs?|opens?|press(?:es)?|scrolls?"
    r"|selects?|signs?|submits?|taps?|types?|uploads?|visits?)|user|visitor|player|button|row|column|page|screen|form|field|cart|popup"
    r"|pop-up|dialog|modal|menu|input|enem(?:y|ie)"
    r"|level|score|item|queue|timer|order|tab|card|checkbox|widget|node|request body"
    r"|session expires|token expires|robot|bot|game|app)s?\b"
)
LASTING: Final = (
    "repo|repository|project|code ?base|code|app|machine|laptop|team|computer|house|family|office"
    "|company|service|chat|conversation"
)
_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
# What is said for a while, or for one thing.
PASSING: Final = (
    r"\b(?:for (?:now|today|the moment|the time being|a (?:moment|minute|while|second|bit|sec|day"
    r"|week))|(?:in|for) (?:this|that) (?:chat|conversation|session|thread|message) only|(?:only"
    r"|just) (?:in|for) (?:this|that) \w+|right now|this (?:time|once|morning|afternoon|evening"
    r"|week|weekend|month|year|one)|just (?:this )?once|for (?:this|that) (?:one|time|task|file|pr"
    r"|commit|change|once|job|run|ticket|session|feature|case)\b|(?:in|on|at|for) (?:the )?(?:line"
    r"|step|question|cell|row|column|slide|page|section|paragraph|chapter|figure|table|exercise"
    r"|problem|part|item|task|ticket|issue)s? #?\d+|in the (?:dream|example|film|movie|poem|scene"
    r"|snippet|story)|today|tonight|at the moment|currently|temporarily|as a one-off"
    r"|one last time)\b"
)
SOON: Final = (
    rf"\b(?:tomorrow|yesterday|yet|until|till|next (?:week|month)|later|in a (?:minute|bit|sec"
    rf"|second|moment|while)|(?:by|on|before|next) (?:{_DAY}(?!s)|noon|lunch|\d)|(?:go|get) (?:back"
    rf"|home)|at \d|(?<!from )now|this(?! (?:{LASTING})\b))\b"
)
# What turns the rest of a sentence into somebody else's words, or into a thought.
REPORTED: Final = (
    r"\b(?:in the (?:movie|film|book|story|game|play|dream|example|scene|script|song)|from the"
    r"|per the|her|his|their|its|whose|readme|docs|manual|handbook|website|changelog|says?|saying"
    r"|told (?!you\b)|tells?|writes?|wrote|written|asks?|asked|according|reads|repl(?:y|ied)"
    r"|prints?|printed|thinks?|thought|wants?|wanted|claims?|claimed|insists?|insisted|imagine"
    r"|imagined|suppose|pretend|assume|assuming|what if|if|let's say|say|for (?:example|instance)"
    r"|e\.g\.|hypothetical(?:ly)?|would|could|might|whether|why|how|wonder|whispers?|shouts?|sings?"
    r"|called|titled|labelled|labeled|rename|change|add|play|queue|put|write|implement|create|make"
    r"|build|oh sure|yeah right|sure|brilliant|wow|clearly|lol|function|method|class|script|robot"
    r"|story|poem)\b|(?<!i )\bsaid\b|(?<!\bi )(?<!already )\btold\b"
)
# What somebody announces his own words with; behind any other colon stands an example or a text.
ANNOUNCES: Final = (
    r"\b(?:rules?|things?|notes?|reminders?|requests?|preferences?|important|remember|also|please"
    r"|ps|guidelines?|conventions?|me|clear|once|though|reference|future|instructions?|said"
    r"|told you|wishe?s?|points?|feedback|corrections?|always|everywhere|mind|this|following|again"
    r"|sacred|one|two|three|[0-9]|first|second|lastly|finally)\W*:\s*\Z"
)
PRETENDS: Final = (
    r"(?:please |now |ok,? |let's |let us |for this (?:test|exercise),? )*(?:imagine|pretend"
    r"|suppose|hypothetically|picture (?:this|that)|consider this|for the sake of argument"
    r"|let's (?:say|assume)|act as|act like|[^\n]*\brole-? ?play\b|stell dir vor|angenommen"
    r"|imagin(?:e que|ons|a que)|supongamos|suppos(?:e que|ons)|you are now|(?:ignore|disregard"
    r"|forget) (?:all |any |the |your )*(?:previous|prior|above)|in a (?:perfect|ideal"
    r"|parallel) world)\b"
)
SARCASM: Final = (
    r"\b(?:great idea|what could (?:possibly )?go wrong|what fun|that's how you|every(?:body"
    r"|one) loves|why bother|oh sure|yeah right|lol sure|clearly the best|best (?:plan|idea) ever"
    r"|as if that|because that (?:works|went)|how (?:original|wonderful|lovely)|haha|hehe"
    r"|just kidding|genius|oh great|that'll (?:go|end) well|(?:right|sure|yeah),? because)\b"
)
# Somebody else who says it, and what it is the title of, behind it.
SAYS_ANOTHER: Final = (
    r"[^\n]*(?: is (?:how|what|why) (?:i|we|you|he|she|they|my|our)\b|, (?:says|said|sang|sings?"
    r"|wrote|writes|claims?|goes the \w+|according to|(?:as )?(?!i\b|we\b|so i\b|like i\b"
    r"|as i\b)[\w' ]{1,30}? (?:says?|said|puts? it|told me|used to say))\b|(?:, | (?:is|was|are"
    r"|sounds like|would make|makes) )(?:what an?|an?|the|my|his|her|their|our|such a|great|good"
    r"|lovely) (?:[\w']+ ){0,3}?(?:song|songs|film|movie|book|motto|line|lyrics?|track|tune|saying"
    r"|quote|phrase|title|slogan|joke|mantra|proverb|album|anthem|episode|headline|tweet|clich[eé]"
    r"|meme)\b)"
)

# ---- what stands around a statement ----

SEPARATOR: Final = (
    r"(?:[,;:(]|\s[-\u2013\u2014]+)\s+(?:(?:and|but|so|then|also|because"
    r"|though) )*|\s(?:and|but|so|because|since)\s"
)
OPENERS: Final = (
    r"(?:(?:ok(?:ay)?|so|and|also|but|then|oh|he+y+|hi+|hello|hiya|yo|please|pls|plz|just|well"
    r"|right|alright|yes|yeah|yep|no|nope|nah|actually|btw|by the way|fyi|nb|ps|p\.s|note|important"
    r"|reminder|rules?(?: (?:number )?(?:\d|one|two|three))?|a rule|another rule|one rule"
    r"|rule (?:number )?(?:\d|one|two|three)|(?:just )?(?:one|1) (?:more |other |last "
    r"|small )?(?:thing|request|note)|another thing|one thing though|two things|thanks(?: a lot"
    r"| so much)?|thank you|thx+|ty|cool|nice|great|good|fine|perfect|listen|look|first(?:ly)?"
    r"|second(?:ly)?|third(?:ly)?|finally|lastly|in addition|additionally|again|hm+|um+"
    r"|the thing is|(?:i|like i|as i)(?: already)?(?: said| told you)(?: before| already)?|i repeat"
    r"|heads[- ]up|remember|wrong|wrong command|that's wrong|incorrect|not quite|sorry|ugh|argh"
    r"|dude|man|bro|whatever you do|above all|most importantly|more importantly|(?:hey |hi |ok "
    r"|hello )(?!i\b)[\w]{2,15}(?=,)|(?:claude|assistant|copilot|jarvis|bot)|given (?:the|a) choice"
    r"|personally|generally|honestly|if i can choose|for context|about me|a bit about me"
    r"|some context|i mean(?:t)?(?: to)?(?= use\b)|no no(?: no)*)[,:!.\u2013\u2014-]*"
    r"|[-\u2013\u2014*:]+|(?:can|could|would|will) (?:you|u)(?: please| pls| kindly)?(?= (?:always"
    r"|never|stop|from|only|call|use|keep|remember|make|in|not)\b)|i(?:'d| would) like (?:it )?if y"
    r"ou) +"
)
# What a sentence ends with and says nothing.
COURTESY: Final = r"(?:,? (?:please|pls|plz|thanks|thank you|thx|btw|by the way|ok|okay))+\Z"
# The case of an order that stands alone behind it: "for python code, use type hints everywhere".
CASE: Final = (
    r"(?!(?:in (?:short|general|addition|fact|other words|my opinion|summary|conclusion|any case"
    r"|principle|theory|practice|reality|hindsight|retrospect|future|the future|the end|case|return"
    r"|particular)|for (?:example|instance|the record|what it's worth|now|me|real|once|sure|context"
    r"|(?:all )?future [^,]*|later [^,]*|[\w' ]+ sake)|on (?:second thoughts?|(?:the|an?) (?:other "
    r"|one |side |related )?(?:hand|note)|top of that)|at (?:all times|the end of the day|least"
    r"|first)|with (?:that|all due respect)[^,]*|once (?:and for all|again|more)|after all"
    r"|if (?:possible|you (?:can|don't mind|want|like|please|ask me)|i may|i'm honest)"
    r"|before (?:i forget|we start|you start))\Z)(?:when(?:ever)?|while|if|before|after|once|during"
    r"|for|in|on|with|at) [^,;:]{2,60}"
)
AT_HAND: Final = rf"\bth(?:is|ese|ose)\b(?! (?:{LASTING})\b)|\b(?:in|on|at|for|with) that\b"
UNFINISHED: Final = r"[^\n]* (?:to|the|a|an|of|with)(?:,? (?:and|but|so|or))?\Z"
# "…, ok?" asks nothing.
TAG: Final = r"[^\n]*, (?:ok|okay|k|please|pls|deal|alright|got it|thanks)\Z"
REQUEST: Final = (
    rf"(?:{OPENERS})*?(?:can|(?P<polite>could|would|will)) (?:you|u)\b"
    r"(?P<please>[^\n]*\b(?:please|pls|from now on|in future|stop|remember|call me)\b)?"
)
# Where the question begins behind a fact.
ASKS: Final = (
    r"(?:,| -|;| so| but| and)(?: (?:and|but|so))? (?=(?:can|could|would|will|what|how|do|does"
    r"|did|is|are|am|should|which|where|when|who|why|maybe|any|have|has|may)\b)"
)
# Where a wish begins behind a fact.
WANTS: Final = (
    r",? (?:and|but|so) (?:i (?:need|want|wonder|have a|am looking|was)|i'm (?:looking|trying)"
    r"|i'd like|can you|could you|please|let's|help me)\b|, which is why\b"
    r"|, (?:can|could|would|will|what|how|do|does|is|are|should) (?:you|i|we|the|it|there)\b"
)
FILLERS: Final = (
    r"(?:[,.]? (?:please|pls|plz|thanks|thank you|thx|ok|okay|btw|by the way|lol|though|too"
    r"|honestly|tbh|from now on|going forward|in future|in the future|(?:please |so )?(?:remember"
    r"|keep (?:(?:that|this|it) )?in mind|don't forget|never forget)(?: that| this| it)?"
    r"|s'il te plaît|por favor|bitte))+\Z"
)
AGAIN: Final = r"(?:,? (?:again|ever again|any ?more|ever|at all))+\Z"
ABOUT_THAT: Final = (
    r"(?:(?:always|never|please|stop|also|just) )*[\w'-]+ (?:(?:about |for |with |to |in "
    r"|on )?(?:(?:it|them|so)\b|one\Z)|(?:this|these|those)\b(?! (?:repo|repository|project|code"
    r"|codebase|app|machine|laptop|team|computer)\b)|(?<!check )(?<!confirm )(?<!verify )(?<!ensure"
    r" )(?<!assume )(?<!sure )(?<!remember )that\b|that\Z)"
)
KIN: Final = (
    r"(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc[eé]e?|daughter|son"
    r"|kid|child|baby|mother|mom|mum|father|dad|sister|brother|dog|cat|pet|horse|parrot"
    r"|grandmother|grandfather|grandma|grandpa|niece|nephew)"
)
"""Who belongs to somebody; who only works with him has a life of his own."""

MY_LIFE: Final = (
    rf"(?:my|our) (?:\w+ )?(?:{KIN}|kids|children|family|birthday|anniversary|allergy|allergies"
    r"|diet|passport|visa|blood type|doctor|dentist|home|flat|house|car|bike)\b"
)
EVERYWHERE: Final = (
    r"(?:\A(?!(?:for|in|on|with|when|while|if)\b)(?!.*\bthis\b).*\beverywhere\b|\b(?:globally|(?:in"
    r"|across|for) (?:all|every|any)(?: one)?(?: of)?(?: my| our| your)? (?:projects?|repos?"
    r"|repositories|codebases)|in (?:my|our) (?:projects|repos|repositories|codebases)|in general"
    r"|no matter (?:the|which|what) project|in whatever project)\b)"
)

# ---- verbs of orders ----

VERBS: Final = word_set(
    "abbreviate abort accept access acknowledge act adapt add address adhere adjust adopt advise "
    "agree aim alert align allow allowlist alphabetise alphabetize amend analyse analyze annotate "
    "announce anonymise anonymize answer append apply approach approve archive arrange ask assert "
    "assign assume attach audit author autoformat automate avoid await back backup base batch bcc "
    "be begin benchmark bind blacklist block bold book boot bracket branch break bring browse "
    "buffer build bump bundle buy cache calculate call cancel capitalise capitalize capture carry "
    "cast catch cc center centre change charge chat check cherry-pick choose cite clamp clarify "
    "clean clear click clone close code coerce collect combine come comment commit communicate "
    "compare compile complain complete compliment compress compute concatenate configure confirm "
    "connect consider consult contact continue convert cook copy count cover create credit crop "
    "cross cut date debug decide declare decline dedupe deduplicate default defer define defrag "
    "delegate delete deliver denylist depend deploy describe deserialise deserialize design detect "
    "develop diff dim disable discard discuss display distinguish divide do document double "
    "download draft draw drop dry-run echo edit embed emit emphasise emphasize enable encode "
    "encrypt end enforce enquire ensure enter escalate escape estimate evaluate exclude execute "
    "exit expand expect explain explore export expose express extend extract factor favor favour "
    "feed fetch file fill filter find finish fix flag flatten flip focus fold follow footnote "
    "force force-push forget format forward freeze generate get give go grant greet group guard "
    "guess guide handle hard-code hardcode hash have head help hide highlight hit hold hyperlink "
    "hyphenate ignore implement import include increase indent index inform inherit initialise "
    "initialize inject inline insert inspect install instrument interpolate interrupt introduce "
    "invent investigate invite invoke iron isolate italicise iterate join judge jump justify keep "
    "kill know label lead leave lecture let limit link lint list listen load localise localize "
    "lock log look lower lowercase lump mail maintain make manage map mark marshal mask match "
    "measure memoise memoize mention merge message migrate minify minimise minimize mix mock "
    "modify monitor mount move mute name namespace nest normalise normalize note notify nudge "
    "number obey offer omit open optimise optimize order organise organize output overlap override "
    "overwrite pack pad paginate panic paraphrase parenthesise parse pass paste patch pause pay "
    "perform pick pin ping pipe place plan play plot plug pluralise pluralize point polish poll "
    "post postpone prefer prefix prepare present preserve press pretend prevent preview print "
    "prioritise prioritize process produce profile promise prompt pronounce proofread propose "
    "protect prove provide prune pseudonymise publish pull purge push put quantify query quote "
    "raise rank read rebase reboot rebuild recommend reconcile record recycle redact reduce "
    "refactor refer reference reformat refresh refuse reimburse reindex reject relabel release "
    "reload rely remap remember remind remove rename render reorder repeat rephrase replace reply "
    "report reproduce request require rerun reschedule reserve reset resolve respect respond "
    "restart restate restore restrict retain retry return reuse reveal revert review revise revoke "
    "rewrite rinse rotate round route run salt sample sanitise sanitize sanity-check save say scan "
    "schedule score scrape scroll seal search season seed segment select sell send separate "
    "serialise serialize serve set share ship shorten shout show shuffle shut sign simplify sketch "
    "skim skip sleep slice slow snapshot snooze sort spawn speak specify spell split spread squash "
    "squeeze stage stamp star start state stay steer stick stop store stream strip structure stub "
    "style submit subscribe subtract suggest summarise summarize supply support suppress surface "
    "swap swear switch sync tabulate tag take talk target tax tee tell terminate test text thank "
    "throw tidy tie time timestamp tint tip toggle tokenise tokenize touch trace track transcribe "
    "transfer transform translate transliterate travel treat trigger trim triple truncate trust "
    "try turn tweak type underline understand undo unify uninstall unlink unlock unmask unplug "
    "unsubscribe unwrap update upgrade upload uppercase use vacuum validate vary vendor verify "
    "version vet view visit vote wait wake walk want warn wash watch water wear weave weigh "
    "whisper whitelist widen work worry wrap write yell zip zoom"
)
# What may stand after "always" or "never" and makes no order of it.
NO_ORDER: Final = word_set(
    "a actually afraid again ahead all almost alone also am an and angry another any are as at "
    "ate away back bad became been before began being best better bored both bought broke "
    "broken brought built busy but by came certain cheap chose chosen clear closer content "
    "could dead did different does done down drank drawn driven drove due dull early easy eaten "
    "either else enough even ever exactly fails fallen far fast faster fell felt few fine first "
    "flown for forgotten found from frozen fully fun funny gave given glad gone gonna good got "
    "gotten great green grew grown guilty had happens happy hard has he heard held her here "
    "hidden higher his how i if ill in interested into is it its just keen kept knew known late "
    "later laughed left less like likely long lost lovely lower made many me meant met mind "
    "mine more much my nearly need needed new nice no nor not nothing of off old older on once "
    "one only open or our out over own paid poor proud quick quiet quite ran ready really red "
    "right rude sad safe same saw seems seen sent she should shown silent simple slept slow "
    "slower so some something sometimes soon sooner sorry spent spoke spoken stolen stood "
    "strong stuck such sure taken taught than that the their them then there these they this "
    "those thought tired to told tomorrow too took true truly two under understood up very was "
    "we weak welcome well went were what when where which while who why wild will with woke won "
    "worn worse worth would written wrong wrote yes you young younger your"
)
# What one does without being ordered to: "never see it fail", "always end up here".
HAPPENS: Final = (
    r"(?:be (?:able|allowed|possible|there|sure)\b|say never|see (?:it|that|this|such)|hear (?:back"
    r"|from)|end up|feel|seem|happen|look(?:ed)? like|get (?:an?|the|this|that|some|to|it|any|back"
    r"|stuck|lost|confused|used)\b|have (?:\w+ed|been|come|done|had|left|made|said|seen|\w+en)\b"
    r"|have (?:i|we|to|the same|trouble|had|problems|issues)\b|know\b|expect(?: the)? \w+ to"
    r"|forget\b|find (?:it|myself)|hit (?:an?|the|this)\b|(?:work|run)s? (?:fine|well|before|for me"
    r"|on my)\b|let me (?:go|down)|need(?:ed)? |stop(?:ped)?\Z|change\Z|cheer (?:me|us)"
    r"|remind (?:me|us) of|make (?:me|us) \w+\Z|look forward to|give (?:up\b|you up)|lose hope"
    r"|(?:work|trust|end|learn|expect)\Z)"
)
# What everybody says, and nobody orders.
SAYINGS: Final = (
    r"(?:say (?:die|never)|judge a book|bite the hand|look a gift|change a running|expect the unexp"
    r"|put off (?:till|until)|count your chick|meet your her|mix business|kiss and tell|cry wolf"
    r"|settle for|stop (?:believ|dream|explor|learn|play|smil)|give (?:up|in)\b|lose (?:faith|hope)"
    r"|go to bed angry|wake a sleeping|take no for|look (?:back|on the bright)|be (?:yourself"
    r"|too)\b|follow your (?:dream|heart)|dream big|trust your (?:gut|inst)|hope for the best"
    r"|believe in (?:yourself|your dream)|have paris)"
)
AFTER_A_VERB: Final = word_set(
    "a all an any both each every her his its me my our the their them these those us your"
)
# Forms that are no plain form: it pushes, pushed, pushing.
INFLECTED: Final = r".{2,}(?:[^s]s|ed|ing|ly|n[']t)"
PLAIN_S: Final = word_set("alias bias canvas focus")
SKIPPED: Final = (
    r"(?:(?:always|never|ever|also|please|just|first|either|immediately|explicitly|carefully|only"
    r"|simply|automatically|manually|directly|blindly|silently),? )*"
)

# ---- orders ----

_YOU: Final = r"(?:you|u|we|ya)"
_MUST: Final = (
    rf"(?:{_YOU}(?: (?:should|must|have to|need to|ought to|shall|will|had better|are to"
    r"|are supposed to)|'ll|'d better|'re to)|must|should|shall)"
)
_I_WANT: Final = (
    rf"(?:(?:i|we)(?:'d| would| do| really)? (?:want|need|expect|like|prefer|ask|love) {_YOU} to)"
)
_IMPORTANT: Final = "important|essential|crucial|vital|imperative|critical|necessary|best"
_CARE: Final = (
    rf"(?:(?:make|be|making) (?:very |absolutely )?sure(?: that)?(?: {_YOU}| to)?"
    rf"|ensure(?: that)?(?: {_YOU})?|see to it that {_YOU}|(?:try|remember|take care) to"
    rf"|let's|lets|let us|it(?:'s| is) (?:\w{{2,12}} )?(?:{_IMPORTANT})"
    rf"(?: for you)?(?: that {_YOU}| to| {_YOU})?|please|kindly)"
)
_TO_YOU: Final = rf"(?:(?:{_MUST}|{_I_WANT}|{_CARE})(?: please| pls| also)? )"
_NO_MATTER: Final = (
    r"(?:please|pls|without (?:any )?exceptions?|no exceptions?|no matter what|at all times"
    r"|(?:if|where|when|whenever|wherever) possible|and i mean (?:always|never|it)"
    r"|under (?:any|all|no) circumstances?|in any case|on any account|whatever happens)"
)
# "You will never guess" and "we will always have it" only tell what comes.
_FORETELLS: Final = (
    r"(?!we(?:'ll| will| shall) |you(?:'ll| will| shall) (?:always|never) (?:be|believe|feel|find"
    r"|forget|get|guess|have|know|learn|love|meet|regret|see|understand|walk|win)\b)"
)
_ALWAYS: Final = (
    rf"(?:al+ways|{slips('always')})(?:(?:,| and)? (?:always|forever))*(?:,? {_NO_MATTER})*"
)
_NEVER: Final = (
    rf"(?:{slips('never')}(?:,? (?:ever|again))*(?:,? {_NO_MATTER})*[,:]? |{_DONT} (?:you )?ever "
    rf"|{_DONT},? {_NO_MATTER},? )(?:allowed to |to )?"
)
_ALLOWED: Final = rf"{_TO_YOU}|you may |you(?:'re| are) (?=never (?:allowed )?to\b)"
_MAY_NOT: Final = (
    r"(?:you (?:must|may|shall) not|you mustn't|you(?: are|'re) not (?:allowed|permitted) to) "
    r"(?!(?:actually|agree|always|be|believe|care|come|even|exist|expect|feel|find|get|happen|have"
    r"|hear|know|like|mind|need|notice|realize|recogni[sz]e|remember|see|think|understand|want"
    r"|work|yet)\b)"
)
_WANT: Final = (
    r"(?:i|we) (?:always|(?P<no>never)) (?:ever )?(?:want|need|expect|wish)\b"
    r"(?! to (?:know|go|be)\b)"
)
_NOT_WANT: Final = (
    rf"(?:i|we) {_DONT} (?:ever (?:want|wanna)\b|(?:want|wanna|need) [^\n]+"
    rf" (?:ever again|again|any ?more|ever|{_FROM_NOW})\Z)"
)
_NOT_AGAIN: Final = (
    rf"(?:{_TO_YOU}?{_DONT}|{_TO_YOU}not|you (?:should|must|may)(?: not|n't)|(?:you )?mustn't) "
    rf"(?!worry|bother|mind|panic|wait|be\b|make me\b|tell me you\b)(?P<kept>[^\n]+?),? (?:ever again"
    rf"|again|any ?more|ever|at all|no matter what|under any circumstances?"
    rf"|{_FROM_NOW})\b(?!,? (?:i'm|i am|we're|we are|it's|the [\w-]+ is|yet|still|before|until)\b)"
)
_STOP_DOING: Final = (
    r"(?:stop|quit|cease|refrain from) (?!being\b)\w+ing\b"
    r" (?!(?:the|that|this|it)\b|[^\n]* and )(?=\S)"
)
_NO: Final = (
    rf"no (?:more )?[\w -]{{2,40}}?,? (?:ever|{_FROM_NOW})\b"
    r"|no more (?!(?:questions?|time|ideas?|info|problems?|errors?|issues?|bugs?|today)\b)"
    r"[\w-]+(?: (?!left\b)[\w-]+)?(?: in [\w ]{3,30})?\Z"
    r"|no (?!(?:one|idea|need|problem|way|luck|changes?|errors?|results?|new|longer)\b)"
    r"[\w-]+(?: [\w-]+)? in (?:this|our|my) (?:repo|repository|project|code ?base|house)\Z"
)
_NEVER_EVER: Final = (
    r"(?:under no circumstances?|in no case|on no account|at no time),? "
    r"(?:(?:should|must|may|do|are) (?:you|we) )?"
)
_IN_REPLIES: Final = (
    rf"(?:please )?{_DONT} [^\n]+ (?:in|at the (?:end|start) of) (?:your|any|all|every|each"
    rf"|my)(?: of your)? (?:replies|reply|answers?|responses?|messages?|e?-?mails?|commit messages"
    rf"|comments|code)\b|(?:please )?{_DONT} [^\n]+ (?:every|each) (?:single )?time\Z"
)
# What an assistant makes again and again.
_MADE: Final = (
    r"(?:your |my |our )?(?:(?:commit messages|variable names|file names|class names|function names"
    r"|branch names|pr titles|docstrings|code comments|answers|replies|responses|summaries"
    r"|explanations|commits|pull requests|prs|e-?mails|recipes|itineraries|meal plans|reports)\b)"
)
_EVERYTHING: Final = (
    (
        r"(?:all|every|each|any) [\w -]{2,40}?(?: must| should| ha(?:s|ve) to| needs? to) "
        r"(?:(?P<no>never|not) )?(?!have (?:\w+ed|been|gone|come|lost|left)\b)\w"
    ),
    (
        rf"{_MADE}(?: must| should| have to| need to) (?P<no>not )?(?:have (?!been\b)|use|start|end"
        r"|contain|include|follow|fit|stay|go|list|be (?!(?:back|done|easy|fine|gone|good|here|ok"
        r"|okay|ready|there|working)\b))"
    ),
    (
        r"(?!(?:the|this|that|it|he|she|they|i|you|we|there|a|an|my|your|our)\b)[\w -]{2,40}?s"
        r" (?:must|should|may|are to|need to|have to) (?:always|(?P<no>never)) \w"
    ),
)
_NO_SCREEN: Final = rf"(?!(?:\w+ )?(?:[\w-]+ )?{_SCREEN})"

ORDERS: Final = (
    Form(rf"{_FORETELLS}{_TO_YOU}{_ALWAYS},? ", "always", "high", "Always", "surely", "firm"),
    Form(rf"(?:we )?{_ALWAYS},? ", "always", "high", "Always", "follows", "firm"),
    Form(rf"(?:{_TO_YOU}|we )?{_ALWAYS}: ", "always", "high", "Always", "", "firm"),
    Form(rf"{_FORETELLS}(?:{_ALLOWED}){_NEVER}", "never", "high", "Never", "surely", "firm"),
    Form(rf"{_NEVER}(?=\S+ \S)", "never", "high", "Never", "surely", "firm"),
    Form(rf"(?:we )?{_NEVER}", "never", "high", "Never", "follows", "firm"),
    Form(_MAY_NOT, "never", "medium", "Never", "follows"),
    Form(_WANT, "always"),
    Form(_NOT_WANT, "never"),
    Form(_NOT_AGAIN, "never", "high", "Never", "surely"),
    Form(_IN_REPLIES, "never", "medium"),
    Form(_NEVER_EVER, "never", "high", "Never", "surely", ""),
    Form(_STOP_DOING, "never", "medium"),
    Form(_NO, "never"),
    *(Form(_NO_SCREEN + each, "always", "medium") for each in _EVERYTHING),
)

# ---- orders that stand from now on, here, or instead of what was done ----

_PLACES: Final = (
    "repo|repository|repositories|project|projects|code ?base|codebases|team|chat|chats"
    "|conversation|conversations|session|sessions|answer|answers|reply|replies|response|responses"
)
_IN_GENERAL: Final = (
    r"(?:as a (?:general )?rule(?: of thumb)?|by default|at all times|without exception|in general"
    r"|(?:in|across|for) (?:this|our|my|all(?: of)?(?: my| our)?|every|each|any)(?: of my| of our)?"
    rf" (?:{_PLACES})(?: of mine| of ours)?(?! only\b)|everywhere|whenever possible"
    r"|wherever possible)"
)
_POLITE: Final = (
    r"(?:(?:please|pls|just|also|only|i want you to|i'd like you to|you should|you must|you) )*+"
)
_FROM: Final = rf"(?:so )?(?>{_FROM_NOW})(?:[,:]| -)? {_POLITE}(?P<kept>)"
_SOFT: Final = rf"(?:so )?{_IN_GENERAL}(?:[,:]| -)? {_POLITE}(?P<kept>)"
_NO_MORE: Final = (
    rf"(?:{_DONT} (?:ever )?|no more |no (?!problem|worries|idea|need|one|thanks)|avoid |stop "
    r"|never |not )"
)
_ANY_CASE_OF: Final = r"(?:when|whenever|if|every time|each time|before|after)\b"
_WISHED: Final = (
    r"(?:i (?:want|need|expect|prefer|would like)|i'd (?:like|prefer)"
    r"|we (?:use|will use|always|do)|let's)\b"
)
_SUBJECT: Final = r"(?:i|it|things|he|she|they|there|this|that|we|the|my|our|a|an)(?:'\w+)?\b"
_STATE: Final = (
    r"(?!(?:i|it|he|she|they|there|this|that|things|who|what)\b)[\w ,-]{3,50} (?:are|go|goes|must"
    r"|should|get|gets|need|needs|have to|has to|stays?|is to|only\Z)\b"
)
_ASKED: Final = rf"(?:{_TO_YOU}|(?:please|pls|just|only|i want|let's) )"
_TOLD_TO: Final = rf"{_ASKED}*+(?P<kept>)(?!{_SUBJECT})"
_ON: Final = (
    rf"[^\n]{{3,}}?[, ] ?(?:{_FROM_NOW}|at all times|by default|without exception|as a rule)\b"
)
_WORK: Final = (
    r"(?:commits?|push|pushes|pull requests?|prs?|merges?|releases?|deploys?|deployments?|answers?"
    r"|repl(?:y|ies)|responses?|messages?|e?-?mails?|sessions?|changes?|edits?|steps?|meetings?"
    r"|meals?|tasks?|conversations?|summar(?:y|ies))\b"
)
_HELP: Final = r"(?:help|tell|show|teach|explain|give me (?:some|a few)? ?(?:tips|advice|ideas))\b"
_EACH: Final = (
    r"[^\n]{3,}? (?:before|after|in|on|for|with|to|at the end of|at the start of)"
    rf" (?:every|each|all|any)(?: single)?(?: of)?(?: my| your| our| new)? {_WORK}"
    r"|(?:write|sign|answer|start|end|begin|finish|prefix|title|name|keep|format)"
    r" (?:all|every|each)(?: single)?(?: of)?(?: my| your| our)? "
)
_STYLE: Final = (
    rf"(?P<no>{_DONT} |(?=avoid ))?(?:use|write|keep|prefer|avoid|name|format|indent|follow|wrap"
    rf"|stick to|address|call) [^\n]{{2,80}}? {_IN_GENERAL}"
)
_REPLIES: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|summaries|explanations|commits|commit messages|functions"
    r"|messages|variable names|prs|pull requests)\b"
)
_KEEP: Final = (
    rf"(?:keep|make) (?:all |your |the |my |all your )?{_REPLIES} (?!as\b|open\b|for\b)\w"
)
_RATHER: Final = r"prefer (?!(?:the|this|that|it|these|those|a|an|my|not|to)\b)[^\W\d]"
_AVOID: Final = r"avoid (?!(?:the|this|that|it|these|those|him|her|them|a|an|my)\b)[^\W\d]"
_BEHIND: Final = (
    r"(?!(?:it|he|she|they|you|that|this|there|same|as|please|i(?! want))\b)[^\n]{3,80}?,? ?,"
    r"(?: please,?)? (?:always|every (?:single )?time|without (?:fail|exception)|no exceptions)"
    r"(?:,? please)?\Z"
)
_TOLD: Final = r"[^\n]* (?:is|are|was|were|fails?|has|crashe?s?|happens?) "
_RULE: Final = (
    r"(?:(?:(?P<our>our|my|house) )?(?:(?:it(?:'s| is)|the|our|my|a|one|another|house|general"
    r"|golden|team|basic|simple|important|new|project)(?: |'s ))*(?:rule|policy|convention|standard"
    r"|guideline|agreement|standing order)(?: of thumb)?(?: #?\d)?(?P<where> (?:here|around here"
    r"|(?:for|in|on) (?!the\b)(?:[\w-]+ ?){1,4}?))?(?::| is:| is that| says:"
    r"|(?(our) |(?(where) |(?!)))(?:is|says)) ?(?:that |to |we )?(?=\S)"
    r"|it(?:'s| is) our (?:policy|rule|convention) to (?=\S))(?P<kept>)"
)
_TROUBLE: Final = (
    r"(?:\w+ed|broken|wrong|unclear|clear|too|very|simple|stupid|silly|fine|ok|okay|good|bad|hard"
    r"|easy|missing|confusing|so|still|also|just|only)\b"
)
_IN_HERE: Final = (
    r"\b(?:here|around here|at \w+|(?:in|on|for|throughout|across) (?:this|our|the) (?:\w+ )?"
    r"(?:repo|repository|project|code ?base|team|app|service|company))\b"
)
_WE: Final = (
    r"(?:(?:in|for) (?:this|our) (?:repo|repository|project|code ?base|team|app|service|monorepo)"
    r",? )?(?:here,? )?we "
)
_OURS: Final = (
    r"(?:only |all |just |generally |normally |strictly )?(?:use|format|indent|write|follow|name"
    r"|work|keep|stick|deploy|release|test|commit|squash|rebase|avoid|store|target|lint|prefer|put"
    r"|run|build|ship|pin|spell|branch|merge|review|tag|log|document)\b"
)
# "we use it here", "we use Redis here and it crashed"
_TOLD_OF_IT: Final = (
    r" (?:an?|the|it|this|that|them|these|those)\b|[^\n]* (?:and|but) (?:it|they|that|this)\b"
)
_DONE_HERE: Final = rf"(?!{_TOLD_OF_IT})(?=[^\n]*{_IN_HERE})"
_IT: Final = (
    r"(?:this|our|the) (?:repo|repository|project|code ?base|team|app|monorepo|service|company)"
    r" (?:only )?(?:uses (?!too|a lot|lots|more|less|so|\d)|follows |requires |targets |sticks to "
    r"|is (?:written|built) (?:in|with|on) |runs on )"
    r"|(?!the|this|these|those|all|most|some)[\w-]+s in (?:this|our)"
    r" (?:repo|repository|project|code ?base|team) (?:are|live|go|use|have|need|follow) "
)
_THING: Final = (
    r"(?!(?:a|an|the|that|this|these|those|it|another|your|other|one|my|what|whatever|whichever"
    r"|which|mine|yours) )[^\s,;]+(?: [^\s,;]+){0,4}?"
)
_INSTEAD: Final = (
    r"(?:you should |you must |please |we )?(?:use|go with|switch to|write|take|prefer|do) "
    rf"{_THING}(?:,? (?:instead|rather)(?: of| than)?\b|,? (?:and )?not )"
    rf"|(?!{_SUBJECT}|[\w ]*\b(?:\w+ed|uses|using|did|got|should|would)\b){_THING} instead of"
    rf" {_THING}\Z|instead of {_THING},? (?:please )?use {_THING}\Z"
    rf"|not {_THING}(?:,| -|:) (?:but |please )?use {_THING}\Z"
)
_THE_THING: Final = (
    r"(?:the|an?|your|our) (?!(?:other|one|first|second|third|last|same|old|new|previous|next"
    r"|former|latter|original|different|\w+ one|\w+est)\b)[^\s,;]+(?: [^\s,;]+){0,4}?"
)
# Behind a "no" also "use the staging key instead", but not "use the other one instead".
_NO_USE: Final = (
    r"(?:(?<=\bno[,.] )|(?<=\bnope[,.] )|(?<=\bwrong[,.] ))"
    rf"(?:please )?use (?:{_THE_THING}|{_THING}) instead(?: of [^\s,;]+(?: [^\s,;]+){{0,4}}?)?\Z"
)
_STICK: Final = (
    r"(?:let's |please |we )?(?:stick (?:with|to)|standardi[sz]e on) (?!(?:it|that|this|the)\b)\S"
)
_TOLD_YOU: Final = (
    r"(?:i|we)(?:'ve| have)? (?:already |just |explicitly )?(?:told you|asked you|said(?! to))"
    r"(?: before| already| twice)?"
)

STANDING: Final = (
    Form(rf"{_RULE}(?={_ANY_CASE_OF})", "when", passing="firm"),
    Form(rf"{_RULE}no ", "never", passing="firm"),
    Form(
        rf"{_RULE}(?:never|{_DONT}|not to|not) (?:no )?(?P<order>)",
        "never",
        order="follows",
        passing="firm",
    ),
    Form(rf"{_RULE}(?!(?:no|never|{_DONT}|not)\b|{_TROUBLE})", "always", passing="firm"),
    *(
        Form(lead + what, kind, passing="firm")
        for lead in (_FROM, _SOFT)
        for what, kind in ((rf"(?={_ANY_CASE_OF})", "when"), (_NO_MORE, "never"))
    ),
    Form(
        rf"(?:so )?(?>{_FROM_NOW})(?:[,:]| -) {_POLITE}(?P<kept>)(?!{_SUBJECT})",
        "always",
        "high",
        "",
        "surely",
        "firm",
    ),
    Form(_FROM, "always", "high", "", "follows", "firm"),
    Form(_SOFT, "always", "medium", "", "follows", "firm"),
    Form(rf"{_FROM}(?:{_WISHED}|{_STATE})", "always", passing="firm"),
    Form(rf"{_SOFT}{_WISHED}", "always", "medium", passing="firm"),
    Form(rf"{_ASKED}++(?P<kept>)(?!{_SUBJECT}|{_HELP}){_ON}", "always"),
    Form(rf"(?!{_SUBJECT}|{_HELP}){_ON}", "always", order="follows"),
    Form(_TOLD_TO + _STYLE, "always", "medium"),
    Form(rf"{_TOLD_TO}(?<!and ){_AVOID}", "never", "medium"),
    Form(rf"{_TOLD_TO}(?<!and ){_RATHER}", "always", "medium"),
    Form(rf"{_TOLD_TO}(?:{_EACH}|{_KEEP})", "always", "medium", order="follows"),
    Form(_IT, "always", "medium"),
    Form(rf"{_WE}{_OURS}{_DONE_HERE}", "always", "medium"),
    Form(
        rf"{_WE}(?:do not |don't |never |avoid )(?P<order>)\w+{_DONE_HERE}",
        "never",
        "medium",
        order="follows",
    ),
    Form(
        rf"{_TOLD_YOU}(?: not to| never to| don't| do not)[ ,]+",
        "never",
        "medium",
        "Never",
        "follows",
    ),
    Form(rf"{_TOLD_YOU}(?::| to)[ ,]+(?P<kept>)", "always", "medium", order="follows"),
    Form(_STICK, "always", "medium"),
    Form(_NO_USE, "always", "low"),
    Form(_INSTEAD, "always", "low"),
    Form(rf"(?<!, )(?!{_TOLD}){_BEHIND}", "always"),
)

# ---- orders for a case ----

_EVERY_TIME: Final = r"(?:whenever|every ?time|each time|any ?time)(?: that)?"
# What breaks again and again; what is done is done once.
_BREAKS: Final = (
    r"the (?:tests?|build|linter|ci|pipeline|type ?checker|compiler|suite|deploy|deployment"
    r"|release)"
    r" (?:fails?|breaks?|complains?|crash|crashes|warns?|times out|(?:is|are) (?:red|broken|flaky))"
)
# Who or what a case is about that may come again.
_ANY_CASE: Final = (
    rf"(?:{_BREAKS}|it(?:'s| is) (?:after|before|past|late|early|dark|raining|a|an|the weekend"
    rf"|\w+day)|(?:you|i|we|one|someone|somebody|something|anything|anyone|nothing|people)(?:'re|'m"
    rf"| are| am|'ve)?|there(?:'s| is| are)|it comes to|in doubt|unsure|not sure|asked|an?|any|my"
    rf"|no|two"
    r"|several|\w{3,}ing|(?!this|was|has|is)\w{2,}s|the [\w-]+(?: \w+)? changes)\b"
)
# Verbs at which the order begins where no comma stands before it.
BARE: Final = (
    r"(?:(?:you (?:should|must|have to) )?(?:use|run|add|ask|make|put|tell|text|show|send|give"
    r"|keep|write|call|check|do not|don't|never|always|include|skip|remind|stop|start|set|turn"
    r"|reply|answer|update|create|prefer|notify|warn|explain|pick|choose|let me know"
    r"|double-check|remove|say|speak|read|save|commit|format|confirm"
    r"|avoid|please|cite|collect|list|log|mark|open|record|repeat|store|summari[sz]e|translate))"
)
# "For every new file, …", "with German customers, …"
_KIND_OF_THING: Final = (
    r"(?:(?:every|each|any|all|new) \w|(?!the|this|these|those|that|my|your|two|three|some|other"
    r"|future|minutes|seconds|hours|days|weeks|starters|details|thanks|reasons|questions"
    r"|others|us|cases|terms|its|his)(?:[\w-]+ ){0,2}?(?:\w{2,}s|code|css|html|sql|yaml|json"
    r"|markdown|prose|homework|correspondence)(?: (?:to|from|with|for|about|in|on|of) [^,]{2,40}?)?"
    rf"(?=,| {BARE}\b))"
)
_ONCE: Final = (
    r"(?:you(?:'re| are)? (?:all )?(?:done|finished|ready|back|through|set|there|arrive|finish|want"
    r"|like|can|could|please|have (?:time|a (?:chance|minute|moment)|any)|need (?:help|anything"
    r"|assistance|me|to talk|more)|get (?:a|the|to|there|home|back))|i(?:'m| am)? (?:back|done|home"
    r"|ready|away|out|gone|get|come|return|arrive|finish|was|had|can|could|were|said|told|should)"
    r"|(?:possible|needed|necessary|ready|done|so|not)\b|we(?:'re| are)? (?:done|ready|finished"
    r"|start|meet|were|had)|something like|an? (?:bit|lot|few|while|moment)\b)"
)
_IF: Final = (
    rf"(?:{_BREAKS}|you(?:'re| are)? (?:ever )?(?:unsure|not sure|uncertain|in doubt|stuck"
    rf"|aren't (?:sure|certain)|get stuck|don't (?:know|understand|have)|can't (?:find|tell|decide)"
    rf"|cannot|(?:find|spot|encounter|discover|come across|run into|see|notice) (?:an?|any"
    rf"|something|anything|\w+s)|touch|change|add|are asked|think|write|use|need (?!help|anything"
    rf"|more|me)|have to|must|feel)|in doubt|unsure|not sure|something|anything|anyone|someone"
    rf"|nobody|(?:told|asked|specified|stated) otherwise|an?|any|my|no|two|three|both|several"
    rf"|multiple|there(?:'s| is) an?|there(?:'s| is| are) no|i(?:'m| am)? (?:ever )?(?:ask|say|send"
    rf"|mention|type|write|paste|give|share|request|use"
    r"|don't (?:say|specify|answer|reply))|(?!this|was|has|is|its)\w{3,}s)\b"
)
_DOING: Final = (
    r"(?:an? (?!(?:while|moment|minute|second|bit|day|week|month|year|few|lot)\b)\w+|(?!something"
    r"|anything|nothing|everything|evening|morning|starting|spring|string)\w{3,}ing|every|each|any"
    r"|you (?!start|begin|do|go|continue|leave|get|answer this)\w+|we (?!start|begin|do|go|continue"
    r"|leave|talk|meet)\w+)\b"
)
PLEASE: Final = (
    r"(?:(?:then|please|pls|just|always|also|i want you to|i'd like you to|you should|you must"
    r"|make sure (?:you|to)|be sure to|remember to|don't forget to|never|don't|do not|dont) )*"
)
BEFORE_A_NOUN: Final = (
    r"(?:to|you|i|we|they|it|he|she|and|or|a|an|the|can|will|must|should"
    r"|my|your|not|of|in|for|with|don't|me|always|never|also|that)"
)
THIS: Final = r"\bthis\b(?! (?:repo|project|code|app))"
# "keywords go uppercase", "no classes": what shall be, without a verb of order.
SHALL: Final = r"(?:no|only) \w|[\w-]+s (?:go|are|must|should|stay) "
COMMA: Final = r"(?:,(?: then)?| then| -+) "
_AGAIN_AND_AGAIN: Final = (
    rf"(?!(?:an?|any|the|all|every|each|two)? ?(?:[\w-]+ )?{_SCREEN}|the user\b|{_ONCE})"
)
_COURTESY: Final = r"(?![^\n]*, (?:please |just )*(?:let (?:me|us) know|feel free|shout)\b)"
_WHENEVER: Final = rf"[^\n]{{3,}}? (?:{_EVERY_TIME}|if ever) (?!(?:this|it|he|she)\b)\w"
_ASK: Final = (
    r"(?:ask|check with|warn|notify|tell|alert|consult|confirm with) (?:me|us)?"
    rf"(?: first| for \w+)?,? ?(?:before {_DOING}|when (?!{_ONCE}){_ANY_CASE}|if (?!{_ONCE}){_IF})"
)
_FIRST: Final = rf"{PLEASE}(?!(?:always|never)\b)(?<!always )(?<!never )(?P<order>)"

WHENS: Final = (
    Form(rf"{_EVERY_TIME} {_AGAIN_AND_AGAIN}", "when", order="behind", passing="firm"),
    Form(rf"when {_AGAIN_AND_AGAIN}(?={_ANY_CASE})", "when", order="behind", passing="firm"),
    Form(
        rf"(?:if(?: ever)?|in case|unless) {_AGAIN_AND_AGAIN}(?={_IF}){_COURTESY}",
        "when",
        "medium",
        order="behind",
        passing="firm",
    ),
    Form(
        rf"(?:before|after|once|while|as soon as) {_AGAIN_AND_AGAIN}(?={_DOING})",
        "when",
        order="behind",
        passing="firm",
    ),
    Form(
        rf"(?:for|in|on|with) {_AGAIN_AND_AGAIN}(?={_KIND_OF_THING})",
        "when",
        order="behind",
        passing="firm",
    ),
    Form(rf"{_FIRST}{_WHENEVER}", "when", order="follows", passing="firm"),
    Form(rf"{_FIRST}{_ASK}", "when", "medium", order="follows"),
)

# ---- facts ----

_AM: Final = r"i(?:'m|m| am)"
_END: Final = (
    r"(?=\s*(?:[,;:!?(]|\.(?!\S)|\Z| -"
    r"| (?:and|but|so|because|btw|by the way|now|since|as|for|with)\b))"
)
_NO_NAME: Final = (
    r"(?:a|an|all|already|also|always|away|back|bad|by|every|for|off|out|to|up|upon|broken|cut|different|displayed|empty|gone|hard|here"
    r"|hidden|in|incorrect|irrelevant|just|long|missing|"
    r"misspel(?:led|t)|never|not|now|nowhere|on|only|private|public|required|short|shown|slow"
    r"|spel(?:led|t)|still|taken|that|the|there|this|too|"
    r"too|unique|unknown|up|used|very|what|wrong|your|\ue000+)\b|\ue000"
)
_WITH_DIGIT: Final = (
    r"(?!\d+(?:[ap]m|st|nd|rd|th|x|h|k|s|mins?|ish)?\b)(?=[^\s,;:.!?()]{0,30}[^\W\d_])"
    r"[^\s,;:.!?()]{2,30}"
)
_NAME: Final = (
    rf"(?P<kept>(?:(?:dr|mr|mrs|ms|prof)\. )?(?!{_NO_NAME})"
    rf"(?:[^\s,;:.!?()\d]{{2,30}}|{_WITH_DIGIT})"
    rf"(?:\.? (?:[^\s,;:.!?()\d]{{1,30}}|{_WITH_DIGIT})){{0,3}}?){_END}"
)
_IS: Final = (
    r"(?:(?:my|the) (?:full |first |real |legal )?name(?:'s| is|:)|name's|i(?:'m| am) called) "
)
_CALLED: Final = (
    r"(?:i go by|(?:i )?(?:just )?(?:go by|call me)|you (?:can|may) call me|(?:can"
    r"|could) you (?:please )?call me|everyone calls me|people call me|(?:please )?(?:address"
    r"|refer to) me as) (?!(?:crazy|old|stupid|a|an|when|back|if|later|at|on|in|once|maybe|after"
    r"|before|tomorrow|today|asap|paranoid|picky|lazy|biased|mad|dumb|naive|weird|by|please|again"
    r"|instead|anytime|out)\b)"
)
_HERE: Final = r"this is (?P<kept>[^\W\d_]{2,20})(?=\Z|[,.!]| (?:from|with|at)\b)"
_AT_THE_DOOR: Final = (
    r"(?P<kept>(?!(?:same|over|not|right|me|up|out|down|in|new|look|stay|come|nothing|only"
    r"|still|just|all|done|stop|start|wait|click|begin|continue|sign|put|use|add|fix|see|check"
    r"|yes|no|hi|hello|help|what|who|where|how|why|bug|error|problem"
    r"|issue)\b)[^\W\d_]{2,20}) here(?=\Z|[,.!]| from\b)"
)
_CALL_SIGN: Final = r"[^\W\d_](?=\w{2,19}(?!\w))[^\W_]*\d[^\W_]*"
_I_AM: Final = (
    rf"{_AM} (?P<kept>(?:[^\W\d_]{{2,20}}|{_CALL_SIGN})(?: [^\W\d_]{{2,20}})?)"
    r"(?=[,.!]| from\b| and i(?:'?m)?\b|\Z)"
)
_ZONE: Final = (
    r"(?:(?:utc|gmt)(?: ?[+-] ?\d{1,2}(?::\d\d)?)?|ce?s?t|cet|cest|e[sd]t|p[sd]t|m[sd]t|c[sd]t|ist"
    r"|jst|bst|aest|aedt|wet|west|eet|eest|msk|sgt|hkt|kst|nzst|[a-z]{4,}/[a-z_]{3,}(?:/[a-z_]{3,})"
    r"?|[a-z]+(?: [a-z]+)? time)"
)
_IN_ZONE: Final = (
    rf"(?:my (?:local )?time ?zone(?: is|:)|{_AM} (?:in|on)|we're (?:in|on)) "
    rf"(?:the )?(?P<kept>{_ZONE})(?: ?zone| time ?zone)?{_END}"
)
_STOP: Final = r"(?!(?:and|but|so|because|with|as|for|since)\b)"
_LIVES: Final = (
    rf"(?:i (?:currently )?(?:live|reside) in|{_AM} (?:currently )?(?:based|located|living)"
    r" (?:in|out of)|we live in) (?!(?:the past|fear|hope|a|an|constant|my|the browser)\b)"
    rf"(?P<kept>[^\s,;:.!?()]{{2,30}}(?: {_STOP}[^\s,;:.!?()]{{2,30}}){{0,3}}){_END}"
)
_MY: Final = (
    r"my (?P<own>(?:full|own|current|main|primary|preferred|favou?rite|private|work|native) )?"
)
_BARE_KEYS: Final = "(?:pronouns|time ?zone|birthday|mother tongue)"
_KEYS: Final = (
    r"(?:pronouns|birthday|surname|last name|family name|middle name|maiden name|(?:working"
    r"|office) hours|date of birth|e-?mail(?: address)?|phone(?: number)?|address|location|locale"
    r"|employer|company|job(?: title)?|role|title|profession|occupation|editor|ide|shell|terminal"
    r"|browser|os|operating system|keyboard(?: layout)?|language|mother tongue|timezone"
    r"|github(?: handle| username| user)?|username|handle|nickname|linkedin|diet|blood type"
    r"|shoe size|height|car|home ?town|city|country|nationality|religion)"
)
_NO_VALUE: Final = (
    r"(?:not|no|a|an|the same|broken|down|slow|wrong|missing|full|gone|never|always|acting|being"
    r"|getting|still|too|so|very|really|about|already|cut|been|being|like|on (?!the)|in (?!the)|at"
    r"|what|that|this|it|stuck|frozen|crashing|hidden|here|there|now|also|set|just|unreachable"
    r"|empty|out|off|up|under|asking|dead|dying|locked|\w+(?:ed|ing)\b)\b"
)
_VALUE: Final = rf"(?P<kept>(?!{_NO_VALUE})[^\n,;!?{BLANK}]{{2,60}}?){_END}"
_MINE: Final = rf"{_MY}(?P<key>{_KEYS})(?: is| are|'s|:) {_VALUE}"
_LISTED: Final = rf"(?P<own>)(?P<key>{_BARE_KEYS}): {_VALUE}"
_STATES: Final = (
    r"(?:(?:a )?(?:vegan|vegetarian|pescatarian)|(?:severely |slightly |very |highly )?(?:allergic "
    r"to|intolerant to) \S+|lactose[- ]intolerant|gluten[- ](?:free|intolerant)|colou?r[- ]?blind"
    r"|(?:partially )?deaf|(?:legally )?blind|hard of hearing|dyslexic|(?:left|right)[- ]handed"
    r"|diabetic|c(?:o)?eliac|autistic|neurodivergent|epileptic|pregnant|retired|self[- ]employed"
    r"|unemployed|married|divorced|single|muslim|jewish|christian|hindu|buddhist|kosher|halal"
    r"|(?:short|near|far)[- ]?sighted|bilingual|\d{2} years old|from (?!(?:the|a|an|my|your|this"
    r"|that)\b)[a-z]+|originally from [a-z]+|new to [a-z+#]+|on an? [\w-]+ diet|\d{2}(?=\Z|,)"
    r"|learning [a-z]+(?=\Z|,))"
)
_CONDITION: Final = (
    r"(?:type [12](?: diabetes)?|asthma|adhd|autism|dyslexia|diabetes|c(?:o)?eliac(?: disease)?"
    r"|epilepsy|migraines|hay fever|an? (?:[\w-]+ )?(?:allergy|intolerance|disability))"
)
_NUMBER: Final = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
_FAMILY: Final = (
    rf"my (?:\w+ )?{KIN}(?:'s name is| is called| is named) (?!not\b)\w|my (?:\w+ )?(?:{KIN}|kids"
    rf"|children|sons|daughters|dogs|cats) (?:[a-z]+ )?(?:is|are|turned) (?:now )?{_NUMBER}"
    rf"|my {KIN} [a-z]+ is an? \w|my (?:work |home )?(?:laptop|computer|machine|phone|desktop"
    rf"|pc) runs (?:on )?(?!(?:slow|hot|out|fast|fine|well|into|too|very|really|it|this|the|my|a|at"
    rf"|for|like)\b)\w|(?:my|our) (?:company|startup|band|school|boat|farm|shop|restaurant) is (?:c"
    rf"alled|named) \w|(?:our|my) (?:wedding )?anniversary is \S"
)
_JOB: Final = (
    r"(?:\w*(?:developer|engineer|designer|teacher|manager|writer|researcher|programmer|lawyer"
    r"|architect|analyst|scientist|student|doctor|nurse|chef|judge|pilot|founder|freelancer"
    r"|consultant|accountant|photographer|professor|lecturer|therapist|dentist|pharmacist"
    r"|journalist|editor|translator|musician|artist|physicist|chemist|biologist|economist"
    r"|electrician|plumber|carpenter|mechanic|farmer|baker|librarian|paramedic|firefighter|surgeon"
    r"|vet|veterinarian|admin|administrator|sysadmin|devops|tester|maintainer|beginner|novice"
    r"|parent|mother|father|widow|widower|pensioner|retiree|native speaker|ologist|ician|grapher"
    r"|smith|keeper|maker|wright|director|officer|clerk|secretary|assistant|coach|trainer"
    r"|instructor|driver|producer|actor|actress|author|contractor|entrepreneur|owner|recruiter"
    r"|principal|postdoc|intern|apprentice|cto|ceo|cfo|quant|statistician|mathematician|technician"
    r"|operator|soldier|nun|priest|pastor|midwife|carer|caregiver|barista|waiter|waitress|cook"
    r"|gardener|person|user|speaker|vegan|vegetarian|dad|mum|mom|diabetic|insomniac|owl)"
    r"|(?!(?:later|number|bother|other|another|better|sucker|goner|loser|monster|disaster|computer"
    r"|error|server|bummer|little|mere|fool|matter|newcomer)\b)[a-z]{3,}(?:er|or|ist|ian)(?=[ ,.;!]"
    r"|\Z))"
)
_SYSTEM: Final = (
    r"(?:macos|mac|windows|linux|ubuntu|debian|fedora|arch|nixos|wsl|android|ios|freebsd"
    r"|an? (?:mac|macbook|windows|linux|chromebook))\b"
)
_AM_ONE: Final = (
    rf"{_AM} (?:{_STATES}\b|(?:on|using|running) {_SYSTEM}"
    rf"|an? (?!(?:bit|fan|big|huge|little)\b)(?:[\w+#.-]+ ){{0,4}}?{_JOB}\b"
    r"|(?:the|one of the) (?:[\w+#.-]+ ){0,2}?(?:lead|head|owner|founder|cofounder|director"
    r"|maintainers?|manager|admin|cto|ceo|cfo) (?:of|at|for|behind|here)\b(?! (?:this|that)\b))"
)
_DAILY: Final = (
    r"write|work|code|use|program|develop|read|eat|drink|cook|travel|fly|speak|start|wake|go|buy"
    r"|shop|run"
)
_DOES: Final = (
    r"i (?:currently )?(?:(?:don't |do not )?work (?:at|for|as|in|from|on (?:\w+days|weekends)"
    r"|nights|part[- ]?time|full[- ]?time|remotely)\b(?! (?:it|this|that|the (?:moment|minute|same"
    r"|time|weekend|code|bug)|my|me|you|once|all|now|first)\b)|(?:don't |do not |only |mostly "
    r"|usually )*(?:speak|eat|drink|wear|smoke|type on|drive)\b(?! (?:it|this|that|the|to|up|down"
    r"|out|for|with)\b)|live (?:just |right )?(?:outside|near|close to|next to) \w|report to (?!the"
    r"|an?\b)\w+\Z|code in \w+|own an? (?!idea)\w|(?:run|manage|lead|have) an? (?:small |little "
    r"|tiny )?(?:bakery|shop|business|company|restaurant|studio|agency|clinic|farm|store|startup"
    r"|caf[eé]|salon|school|blog|newsletter|podcast|team of \w+)\b|play (?:the )?\w+\Z|teach \w"
    r"|study \w|was born (?:in|on) \w"
    r"|use (?!(?:it|this|that|them)\b)[\w.+# -]{2,30} (?:on my|as my|at work|at home|every day"
    rf"|daily|for everything)|use (?:a wheelchair|a screen ?reader|hearing aids?|a cane"
    rf"|a hearing aid)|(?:can't|cannot) (?:eat|drink|have|tolerate) (?!it|that|this|the)\w|(?:only"
    rf"|mostly|mainly|primarily) (?:{_DAILY}) (?!it|this|that|into|out)\w"
    r"|(?:go|run|swim|train|walk|meditate|practi[cs]e|wake up|get up|have|take|do)\b[\w ]{0,40}"
    r" (?:every|each) (?:day|morning|evening|night|week|weekend|\w+day)\Z)"
)
_HAS: Final = (
    rf"(?:i|we) have (?:{_CONDITION}|twins|triplets|\w+ (?:kids|children|cats|dogs|sons|daughters"
    rf"|brothers|sisters)|an? (?:[\w-]+ )?(?:dog|cat|son|daughter|baby|toddler)(?=\Z|,| (?:named"
    rf"|called|who|that|and|with|at home)\b))(?!\w)|i have (?:over |about |almost )?\w+ years(?:'"
    rf"| of)? (?:of )?experience\b|i(?:'ve| have) been (?:an? |vegan|vegetarian|married|programming"
    rf"|coding|working|cooking|teaching|practi[cs]ing|playing|running|writing|using|learning"
    rf"|studying|living)\b(?:(?! this\b)[^,])"
    r"{0,40}? for (?:over |about |almost )?\w+ years\b"
    rf"|{_AM} \d(?:\.\d+|\d*) ?(?:cm|m|ft|feet) tall\b|i weigh \d+"
)
_TOOL: Final = (
    r"(?!(?:it|this|that|the|a|an|my|your|one|them)\b)[\w.+#/-]+(?: [\w.+#-]*[0-9.+#][\w.+#/-]*)?"
)
_USES: Final = (
    rf"i (?:don't |do not )?use {_TOOL}(?: (?:and|or|on|with) {_TOOL})?(?=\Z|,)"
    rf"|i use {_SYSTEM}(?=\Z|,| (?:at|for|and|with|as)\b)"
)
_HABIT: Final = (
    r"i (?:never|always) (?:use|fly|take|write|work|test|squash|rebase|commit|review|code|cook"
    r"|travel|pay|sign|buy|book|sleep|run|speak|eat|drink|wear|smoke|drive)\b"
    r"(?! (?:it|this|that|into|out|the)\b)"
)

FACTS: Final = (
    Form(_IS + _NAME, "profile", "high", "Name:", passing=""),
    Form(_CALLED + _NAME, "profile", "high", "Name:", passing=""),
    Form(_IN_ZONE, "profile", "high", "Time zone:"),
    Form(_MINE, "profile", "high", "Key:", passing=""),
    Form(_LISTED, "profile", "high", "Key:", passing=""),
    Form(_FAMILY, "profile", passing=""),
    Form(_LIVES, "profile", "high", "Location:"),
    Form(_AM_ONE, "profile"),
    Form(_DOES, "profile"),
    Form(_HAS, "profile"),
    Form(_HABIT, "profile", "medium"),
    Form(_USES, "profile", "medium"),
    Form(_HERE, "profile", "high", CAPITAL, passing=""),
    Form(_AT_THE_DOOR, "profile", "high", CAPITAL, passing=""),
    Form(_I_AM, "profile", "high", CAPITAL, passing=""),
)

# ---- preferences ----

# What is before both, or is to be done.
_AT_HAND: Final = (
    r"(?:not\b(?! to (?!say\b|answer\b|tell\b|talk\b))|it\b|that\b(?! (?:you|people|we)\b)|this\b"
    r"|these\b|those\b|them\b|both\b|neither\b|either\b|none\b|all\b|your\b|you\b(?! (?:answered"
    r"|avoided|called|explained|gave|kept|listed|showed|told|used|wrote|to|not|did|do|ask|use|keep"
    r"|were|would|write|answer|call|always|never))|how\b|when\b|what\b|where\b|if it\b|option\b"
    r"|version\b|variant\b|plan [a-z]\b|number\b|his\b|her\b|their\b|(?:the )?(?:first|second|third"
    r"|fourth|last|latter|former|other|new|old|previous|next|current|original|one|way|idea|look"
    r"|layout|design|approach|version|result|output|food|place|color|colour|name|title|tone|ending"
    r"|blue|red|green)\b|\w+day\b|to (?:admit|be (?:a|the|that|picky|annoying)|bother|disturb"
    r"|interrupt|say)\b|\w+ing (?:to|with) you\b|the \w+ (?:one|version|option|approach|variant"
    r"|layout|design|idea)\b|a different|another\b|to (?:wait|stop|leave|see|talk|start|finish"
    r"|do (?:it|this|that)|know|go|hear|book|order|have|buy|get|ask|think|believe|discuss|call)\b"
    r"|wait\b|stop\b|do (?:it|this|that)\b|die\b|go\b|start\b|talk\b|just\b|be\b|work on\b"
    r"|have (?:the|it|this)\b|see\b|hear\b|finish\b|fix\b|leave\b|sleep\b|stay\b|skip\b|eat\b"
    r"|take the\b|keep (?:it|this|that)\b|so much|\ue000)"
)
_ADVERBS: Final = (
    r"(?: (?:really|generally|usually|strongly|much|always|also|personally|definitely|still|do"
    r"|tend to|absolutely|just|greatly|very much))*"
)
_PREFER: Final = (
    rf"i(?P<would>'d|d| would)?{_ADVERBS}(?: would)?{_ADVERBS} (?:prefer|rather)"
    rf" (?(would)(?!the\b))(?:(?:it )?(?:if|when) (?:you|people|answers) |(?!{_AT_HAND}))\S"
)
_LIKE: Final = (
    rf"i{_ADVERBS} (?:like|love|enjoy|hate|dislike|can't stand|cannot stand|can't bear|detest"
    r"|don't like|do not like|dont like|don't enjoy)"
    rf" (?:(?:it )?(?:if|when) you |(?!{_AT_HAND})(?!(?:the|an?|that)\b))\S"
)
_PREFERENCE: Final = (
    rf"my (?:(?:strong |personal |general )?preference (?:is|would be)|(?:favou?rite"
    rf"|preferred) (?!part|line|bit|quote|scene|thing|moment|one)[\w-]+(?: [\w-]+)? (?:is"
    rf"|are)) (?!{BLANK}|(?:not|that|this|it|when|how|where|what|gone|broken)\b)\S"
)
_WISH: Final = (
    r"(?:i'd|i would) (?:really |much )?(?:appreciate|like|love|prefer) it if you (?!could\b)\S"
    r"|it(?:'d| would) be (?:\w+ )?(?:great|nice|good|better|helpful|best|cool) if you (?!could\b)"
    r"\S|i(?:'d like| would like| want| like) (?:my|all(?: of)?(?: my)?|every) [\w ]{2,30}?s (?:in"
    r"|as|with|without|to be|sorted|formatted|written|kept)\b"
)
_FAN: Final = (
    r"i(?:'m| am) (?:not |no |a |an |such |really |big |huge |great |much of )*fan of"
    rf" (?!{_AT_HAND})\S"
)

PREFERENCES: Final = tuple(
    Form(each, "profile", "medium") for each in (_PREFER, _WISH, _LIKE, _PREFERENCE, _FAN)
)

# ---- requests to remember ----

REMEMBER: Final = (
    rf"(?:(?:(?:can|could|would|will) (?:you|u) |i (?:need|want|'d like|would like) you to "
    rf"|you (?:should|must|need to) |just so you |just |(?:here's |let me tell you )?something to )"
    rf"?(?:please |pls |always )?(?:(?:{slips('remember')}|rember|memori[sz]e)(?: this"
    rf"| the following)?(?: for (?:next time|later|the future))?(?: that\b|[:,]| -)?"
    rf"|keep in mind(?: that\b|[:,])?|keep this in mind[:,]|bear in mind(?: that\b|[:,])?|(?:make"
    rf"|take) (?:a )?note(?: that\b|[:,]| of this:)|(?:do not|don't|dont|never) forget(?: that\b"
    rf"|[:,])?|(?:add|save|commit|store|put|write|note) (?:this |it )?(?:down )?(?:to|in"
    rf"|into) (?:your |the )?(?:long-term )?(?:memory|notes)(?:[:,]| that\b)|(?:save"
    rf"|store) this[:,]|(?:a )?note (?:for later|for the future|to self|for next time)[:,]"
    rf"|for (?:future|later) reference[:,]?|you should know(?: that\b|[:,])|fyi,? for (?:the future"
    rf"|later|next time)[:,]?|for the record[:,]|remember this[:,]))(?P<next>(?: next time"
    rf"| for next time| later)?[:,]?(?: that)?) (?P<kept>)"
)
# After these a fact follows, whatever it looks like.
CLEARLY: Final = r"[^\n]*\b(?:in mind|memory|notes|that|note|reference)\b"
# A remembered thing has a verb, else it is "remember the milk".
HAS_VERB: Final = (
    r"\b(?:is|are|was|were|has|have|had|uses?|needs?|takes?|runs?|lives?|can|cannot|can't|must"
    r"|should|will|won't|does|doesn't|do|don't|expires?|works?|owns?|wants?|likes?|prefers?|gets?"
    r"|goes|starts?|ends?|opens?|closes?|costs?|requires?|means?|stands?|comes?|only|always|never"
    r"|isn't|aren't|(?:\w{3,})s)\b|'s |'re |'m "
)
TO_DO: Final = r"(?:to|when|how|what|why|if|about|from|too|well)\b"
NO_FACT: Final = (
    r"(?:me|when|how|what|who|where|why|which|the (?:time|milk|name|day|days)"
    r"|that|this|it|them|those|these|to|if|anything|everything|nothing|us|him|her)\b(?! is| are|'s)"
)
# What people cheer each other up with.
PEP_TALK: Final = (
    r"(?:you(?:'re|'ve| are| got| can| don't have)|it's (?:never|about|ok|okay|important|always)"
    r"|every \w+ (?:step|victory|day|has)|i'm always|there's always|- )\b"
)
_REMINDER: Final = (
    r"(?!(?:you|i|we|please|to|do|don't|can|could|will|would|this|that|it|if|when)\b)[^\n]{8,200}?,"
    r" (?:please |so )?(?:remember|keep in mind|don't forget|never forget)(?: that| this| it)?\Z"
)

ENGLISH: Final = (
    *WHENS,
    *ORDERS,
    *STANDING,
    *PREFERENCES,
    *FACTS,
    Form(_REMINDER, "lesson"),
)
"""In the order in which they are tried."""

# ---- German, French and Spanish ----

_NAME_FACT: Final = (
    rf"(?P<kept>(?:[^\s,;:.!?()\d]{{2,30}}|{_WITH_DIGIT})(?: (?!und |et "
    rf"|y )(?:[^\s,;:.!?()\d]{{2,30}}|{_WITH_DIGIT})){{0,2}})(?=[,;:.!?]|\Z| und | et | y )"
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
_FOREIGN: Final[Mapping[tuple[Kind, Confidence, str], Sequence[str]]] = {
    ("never", "high", ""): (
        (
            rf"(?:bitte )?(?P<kept>(?!{_ICH}|sage? )[^\W\d_]{{2,20}}(?<!t) (?:bitte )?(?:nie"
            rf"|niemals|nie wieder|nie mehr)\b)"
        ),
        r"(?P<kept>(?:nie|niemals) (?!im leben\b)[^\n]{3,}[^\W_]en\Z)",
        (
            r"(?:bitte )?(?:ab (?:jetzt|sofort|heute)|in zukunft|künftig"
            r"|zukünftig)(?: bitte)?,? (?P<kept>(?:keine?|nicht|nie|niemals)\b)"
        ),
        (
            rf"(?:bitte )?(?P<kept>(?:keine?n?|(?!{_ICH})[^\W\d_]{{2,20}}(?<!t)(?: [\w-]+){{0,6}}? "
            rf"(?:nicht|keine?n?)) [^\n]*\bmehr\Z)"
        ),
        r"(?P<kept>(?:ne |n')(?!suis|ai|est|sais|peux)[^\W\d_]{2,20} (?:plus )?jamais\b)",
        r"(?:à partir de maintenant|désormais|dorénavant|à l'avenir),? (?P<kept>(?:ne |n')\w)",
        (
            r"(?:por favor,? )?(?P<kept>(?:nunca|jamás) (?:más )?(?!jamás|mais|digas nunca|me|te|se"
            r"|le|nos|sabes|puedes|tienes)\w+(?:s|r)\b)"
        ),
        r"(?:a partir de ahora|de ahora en adelante|en el futuro),? (?P<kept>(?:no|nunca) \w)",
    ),
    ("always", "high", ""): (
        (
            rf"(?:bitte )?(?P<kept>(?!{_ICH})[^\W\d_]{{2,20}}(?<!t)(?<!st) (?:bitte )?(?:ab"
            rf" (?:jetzt|sofort) )?(?:immer|stets)\b)"
        ),
        r"(?P<kept>immer [^\n]{3,}[^\W_]en\Z)",
        (
            rf"(?:bitte )?(?:ab (?:jetzt|sofort|heute)|in zukunft|künftig"
            rf"|zukünftig)(?: bitte)?,? (?!bin|ist|wird|habe|kann|geht)(?P<kept>(?!{_ICH})\w)"
        ),
        (
            rf"(?:bitte )?(?P<kept>(?!{_ICH})[^\W\d_]{{2,20}}(?<!t) (?:bitte )?(?:ab"
            rf" (?:jetzt|sofort)|in zukunft|künftig)\b)"
        ),
        rf"(?:s'il te plaît,? )?(?P<kept>(?!{_JE})[^\W\d_]{{2,20}}(?:e|s|z) toujours\b(?! pas))",
        (
            rf"(?:à partir de maintenant|désormais|dorénavant"
            rf"|à l'avenir),? (?P<kept>(?!{_JE})(?!ne\b|n')\w)"
        ),
        (
            r"(?:por favor,? )?(?P<kept>siempre (?!me|te|se|lo|la|le|nos|que|hay|es|está|falla"
            r"|funciona|tarda|llega|pasa|dice|fue|ha|he|igual)\w+(?<!o)(?<!ó)\b)"
        ),
        (
            r"(?:por favor,? )?(?P<kept>(?!yo|tú|él|ella|esto|eso|el|la|casi|no|ya"
            r"|como)[^\W\d_]{2,20}(?:a|e) siempre\b)"
        ),
        (
            r"(?:a partir de ahora|de ahora en adelante|en el futuro),? (?!yo|el|la|los|las|voy"
            r"|será|estaré)(?P<kept>\w)"
        ),
    ),
    ("lesson", "high", ""): (
        (
            r"(?:bitte )?(?:merke? dir|denke? dran|denke? daran|vergiss nicht|behalte im kopf)(?:,"
            r"| bitte,)? (?:dass|:)? ?(?P<kept>\w+ \w+)"
        ),
        (
            r"(?:souviens-toi|rappelle-toi|n'oublie pas|retiens|note) (?:bien )?(?:que "
            r"|qu')(?P<kept>\w)"
        ),
        r"(?:por favor,? )?(?:recuerda|acuérdate de|ten en cuenta|no olvides) que (?P<kept>\w)",
    ),
    ("profile", "high", "Name:"): (
        (
            rf"(?:ich heiße|ich heisse|mein name ist)"
            rf" (?!(?:nicht|ja|auch|das|den|dich|es|sie)\b){_NAME_FACT}"
        ),
        rf"(?:bitte )?(?:nenne? mich|du kannst mich)(?: bitte)? {_NAME_FACT}",
        rf"(?:je m'appelle|mon nom est|mon prénom est|appelle-moi) {_NAME_FACT}",
        rf"(?:me llamo|mi nombre es|llámame) {_NAME_FACT}",
    ),
    ("profile", "high", "Location:"): (
        rf"(?:ich wohne in|ich lebe in) (?!der|einer|einem|dem){_NAME_FACT}",
        rf"(?:j'habite|je vis) (?:à|au|en) {_NAME_FACT}",
        rf"vivo en (?!un|una|el|la){_NAME_FACT}",
    ),
    ("profile", "medium", ""): (
        (
            r"(?P<kept>ich (?:bevorzuge|mag lieber|arbeite (?:bei|als)|bin (?:vegetarier|veganer"
            r"|vegan|allergisch|lehrer|entwickler))\w*\b)"
        ),
        (
            r"(?P<kept>je préfère (?!ça|cela|celui|celle|le (?:premier|second|deuxième)"
            r"|la (?:première|seconde|deuxième))\w)"
        ),
        (
            r"(?P<kept>prefiero (?!eso|esto|ese|esa|el (?:primer|segund)|la (?:primer|segund)|no\b"
            r"|esperar)\w)"
        ),
    ),
    ("profile", "high", ""): (
        (
            r"(?P<kept>je suis (?:végétarien|végan|allergique|développeu|professeu|infirmi"
            r"|daltonien|gauch)\w*)"
        ),
        (
            r"(?P<kept>soy (?:vegetarian|vegan|alérgic|desarrollador|profesor|enfermer|zurd"
            r"|daltónic|diabétic)\w*)"
        ),
    ),
}

FOREIGN: Final = tuple(
    Form(form, kind, confidence, label, passing="")
    for (kind, confidence, label), forms in _FOREIGN.items()
    for form in forms
)
