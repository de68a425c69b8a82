"""What a tagger takes for something sensitive and is not: units, cars, kinds of ride, rooms by their kind, bare numbers.

Only spans that are nothing else are meant: of "the pool at the ritz" the pool goes and the Ritz stays.
"""

from __future__ import annotations

import re

from sottovoce.models.records import Span
from sottovoce.models.text.detect.word_names import names_and_words

NAMES = ("PER", "LOC", "ORG")
_SMALL = re.compile(r"(?:\W*\b(?:the|a|an|of|early|in(?=\s+the))\b)+\W*$", re.IGNORECASE)
_DEGREES = r"(?:degrees?|cel[sc]ius|fah?renheit|kelvin)"
_UNIT = re.compile(
    rf"(?:\d+\s+)?(?:in\s+)?(?:{_DEGREES}\W*)*(?:{_DEGREES}|(?<=\s)[cf])(?:\s+(?:in|near))?\W*$", re.IGNORECASE
)
_WARMTH = re.compile(rf"\b(?:{_DEGREES}|temperature|temp|in [cf])\b", re.IGNORECASE)
_LETTER = re.compile(r"[cf]\W*$", re.IGNORECASE)
_COMPARED = re.compile(r"\b(?:above|below|around|over|under|than)\s+$", re.IGNORECASE)
_SHORT_UNIT = re.compile(r"(?:degrees?\s+|\bin\s+|\d\s*)[cf]$", re.IGNORECASE)  # with what stands before it
# A car is no date, as which the tagger takes it: a make, and one word more that is none ("a tesla by easter").
_DAY = (
    r"easter|christmas|xmas|thanksgiving|halloween|hanukkah|ramadan|diwali|eid|new\s+year|valentine|\w+day|to\w+row|tonight|next|this"
    r"|last|in|on|by"
)
_MAKE = (
    r"(?:acura|audi|bmw|buick|cadillac|chevrolet|chevy|chrysler|citroen|dacia|dodge|fiat|ford|honda|hyundai|infiniti|jaguar|jeep"
    r"|kia|lexus|mahindra|maruti|maruthi|maruthy|mazda|mercedes|mitsubishi|nissan|opel|peugeot|pontiac|porsche|renault|skoda"
    r"|subaru|suzuki|tesla|toyota|vauxhall|volkswagen|volvo)(?:\W+(?:benz|suzuki))?"
)
_CAR = re.compile(rf"\b{_MAKE}(?:\W+(?!(?:{_DAY})\b)[^\W\d]+)?$", re.IGNORECASE)
_OF_A_KIND = re.compile(
    r"\b(?:an?|my|your|his|her|our|their|new|old|used|rental|hired|red|blue|white|black|gr[ea]y|silver|green|yellow)\s+$",
    re.IGNORECASE,
)
_MADE = re.compile(rf"{_MAKE}(?:\s+[^\W_]+)?\W*$", re.IGNORECASE)
_RIDE = re.compile(
    r"(?:(?:uber|lyft)\s?)?(?:x|xl|suv|pool|comfort|black|select|premium|lux|shared|standard|economy|imax|3d|2d|4dx|dolby)"
    r"(?:\s(?:xl|suv|black|plus))?\W*$|(?:uber|lyft)\s?(?:x|xl)\W*$",
    re.IGNORECASE,
)
_KIND_OF_PLACE = re.compile(
    r"(?:the\s+bath$|(?:(?:the|an?|my|our|your|this|that|nearest|closest|local|swimming|train|bus|petrol|gas|police|fire)\s+)*"
    r"(?:gym|pool|sauna|spa|atm|lobby|bar|reception|front\s+desk|kitchen|bathroom|bedroom|living\s+room|garden|garage|basement"
    r"|balcony|terrace|car\s+park|parking(?:\s+lot)?|museum|library|church|school|pharmacy|chemist|supermarket|grocery(?:\s+store)?"
    r"|bakery|bank|post\s+office|hospital|station|stop|office|work|building|entrance|main\s+entrance|corner|house|home|room|cloakroom|cash\s+machine"
    r"|direct|debit|direct\s+debit|standing\s+order|credit\s+card|debit\s+card|customer\s+service|customer\s+services|room\s+service|breakfast"
    r"|lunch|dinner|brunch|club\s+sandwich|burger|sandwich|salad|pizza|coffee|tea))\W*$",
    re.IGNORECASE,
)
_OF = re.compile(r"\s+of\b", re.IGNORECASE)
_PEOPLES = """american australian british english scottish welsh irish french german italian spanish portuguese dutch belgian
swiss austrian polish czech hungarian romanian bulgarian greek turkish russian ukrainian swedish norwegian danish finnish
icelandic chinese japanese korean vietnamese thai indian pakistani bangladeshi indonesian malaysian filipino iranian
persian iraqi arabic lebanese israeli egyptian moroccan ethiopian nigerian kenyan ghanaian african asian european
mexican cuban brazilian argentinian peruvian colombian canadian caribbean jamaican cantonese mandarin hindi urdu bengali
punjabi tamil swahili hebrew latin mediterranean cajun"""
_SLANG = """u r ugh lol lmao omg wtf smh tbh idk lmk hmu imo btw thx pls plz bday rt dis dat hes shes im ive dont cant wont gonna
wanna gotta yall yea yep nope haha hahaha rn af dude yo hey sup xx xoxo ff tbt fyi asap dm"""
_KIN = "mum mom dad mother father brother sister husband wife boyfriend girlfriend boss he's she's i'm me him her"
_KIN_WORD = re.compile(rf"(?:{'|'.join(_KIN.split())})\W*$", re.IGNORECASE)
_SEAT = re.compile(r"(?:row|screen|seat|platform|gate|table|page|aisle)\s+\w{1,6}\W*$", re.IGNORECASE)
_SLANG_WORD = re.compile(rf"(?:{'|'.join(_SLANG.split())})\W*$", re.IGNORECASE)
PEOPLE = re.compile(
    rf"(?:{'|'.join(_PEOPLES.split())})s?\W*$", re.IGNORECASE
)  # as a dish or a language: what follows tells
OF_A_KITCHEN = re.compile(
    r"\s*(?:$|[,.;!?]|(?:and|or|food|cuisine|dish|dishes|restaurants?|place|takeaway|takeout|language)\b)",
    re.IGNORECASE,
)
_POURED = re.compile(r"\b(?:pint|glass|bottle|can|cup|mug|bowl|plate|slice|portion)s?\s+of\s+$", re.IGNORECASE)
_OF_A_RIDE = re.compile(r"\s(?:x|xl|pool|black|comfort|select|lux|shared|suv)\b", re.IGNORECASE)
_HAIL = re.compile(r"(?:uber|lyft)\W*$", re.IGNORECASE)
_IN_A_MOMENT = re.compile(r"(?:one|a|just\s+a)\s+(?:sec|second|moment)\W*$", re.IGNORECASE)
# What says which kind of value follows, and is none.
_LABELS = {
    "CODE": re.compile(
        r"(?:(?:flight|number|reference|account|order|booking|confirmation|ticket|policy|membership|code|box)\b\W*)+$",
        re.IGNORECASE,
    ),
    "DATE": re.compile(
        r"(?:dob|d\.o\.b\.?|date|starting|beginning|from|until|till|earlier|later|twice|all)\W*$", re.IGNORECASE
    ),
    "TIME": re.compile(r"(?:before|about|around|starting)\W*$", re.IGNORECASE),
}
_RANK = re.compile(r"(?:first|second|last|next|this)\W*$", re.IGNORECASE)  # "drop her off first", but "on the first"
_DATED = re.compile(
    r"\s+(?:\w+day|week|month|year|spring|summer|autumn|winter|morning|afternoon|evening|night)", re.IGNORECASE
)
_THE = re.compile(r"\bthe\s+$", re.IGNORECASE)
# "volume to eight", "size forty two", "the thermostat to sixty eight": a tagger's time, amount or code of bare number words.
_NUMBER_WORD = (
    r"(?:\d{1,3}|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|hundred|and|a|point)"
)
_BARE_NUMBER = re.compile(rf"{_NUMBER_WORD}(?:[\s-]{_NUMBER_WORD})*\W*$", re.IGNORECASE)
_COUNTS = re.compile(
    r"\b(?:size|channel|page|line|chapter|volume|level|brightness|oven|thermostat|temperature|heating|speed|gear|step|verse|episode|season"
    r"|number\s+\w+ty|times|plus|minus|divided)\b(?:\s+(?:to|at|by|up\s+to|down\s+to|is))?\s*(?:\w+ty\s)?$",
    re.IGNORECASE,
)


def is_ordinary(span: Span, text: str) -> bool:
    """Whether a tagger's span is of such a kind, and of nothing else."""
    inside = text[span.begin : span.end]
    if span.type in (*NAMES, "DATE", "TIME") and _SMALL.match(inside):
        return True
    if span.type in ("LOC", "TIME", "DATE") and _is_warmth(span, text):
        return True
    if span.type == "LOC" and _SHORT_UNIT.search(text, max(0, span.begin - 10), span.end):
        return True
    if span.type == "DATE" and _CAR.search(text, max(0, span.begin - 20), span.end):
        return True
    if _SLANG_WORD.match(inside):
        return True
    before = text[max(0, span.begin - 24) : span.begin]
    if span.type in NAMES:
        of_a_kind = _MADE.match(inside) is not None and _OF_A_KIND.search(before) is not None
        hailed = _HAIL.match(inside) is not None and _OF_A_RIDE.match(text, span.end) is not None
        poured = _POURED.search(before) is not None
        if _SEAT.match(inside) or (span.type == "PER" and _KIN_WORD.match(inside)):
            return True
        return of_a_kind or hailed or poured or _RIDE.match(inside) is not None or _is_kind_of_place(span, text)
    if span.type == "TIME" and _IN_A_MOMENT.match(inside):
        return True
    if span.type in _LABELS and _LABELS[span.type].match(inside):
        return True
    if span.type == "DATE" and _RANK.match(inside) and not _THE.search(before) and not _DATED.match(text, span.end):
        return True
    if span.type in ("TIME", "AMOUNT", "CODE", "DATE"):
        return _BARE_NUMBER.match(inside) is not None and _COUNTS.search(before) is not None
    return False


def _is_warmth(span: Span, text: str) -> bool:
    """Degrees and their number: "will it be above 66 in c"."""
    inside = text[span.begin : span.end]
    if _UNIT.match(inside):
        return True
    compared = _BARE_NUMBER.match(inside) and _COMPARED.search(text, max(0, span.begin - 12), span.begin)
    return bool((compared or _LETTER.match(inside)) and _WARMTH.search(text))


def _is_kind_of_place(span: Span, text: str) -> bool:
    """Not where a capital within a sentence tells of a name, nor before "of" ("Bank of England")."""
    inside = text[span.begin : span.end]
    if inside.lower() in names_and_words():
        return False
    capital = inside[:1].isupper() and text[: span.begin].rstrip()[-1:] not in ("", ".", "?", "!")
    return not capital and _KIND_OF_PLACE.match(inside) is not None and _OF.match(text, span.end) is None
