"""Dutch."""

from __future__ import annotations

from sottovoce.models.text.languages import LETTERS, SPELLING, Language, numbers

_UNITS = "een twee drie vier vijf zes zeven acht negen"
_TENS = "twintig dertig veertig vijftig zestig zeventig tachtig negentig"
_COMPOUNDS = {
    f"{unit}{'ën' if unit.endswith('e') else 'en'}{ten}": 10 * (at + 2) + one + 1
    for at, ten in enumerate(_TENS.split())
    for one, unit in enumerate(_UNITS.split())
}
_NUMBERS, _VALUES = numbers(
    "nul één twee drie vier vijf zes zeven acht negen",
    "tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien",
    _TENS,
    _COMPOUNDS,
    {"een": 1},  # the article as well: a telephone number must not be cut in two by it
)
_ORDINALS = (
    "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde dertiende "
    "veertiende vijftiende "
    "zestiende zeventiende achttiende negentiende"
)

LANGUAGE = Language(
    names=("nld", "dut", "dutch", "nederlands"),
    classes={
        **_NUMBERS,
        "h": "honderd",
        "k": "duizend miljoen",
        "u": "dubbel dubbele",
        "l": LETTERS,
        "n": SPELLING,
        "r": " ".join([_ORDINALS, *(f"{number}ste" for number in [*_TENS.split(), *_COMPOUNDS])]),
        "m": "januari februari maart april mei juni juli augustus september oktober november december",
        "w": "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag maandagen dinsdagen woensdagen donderdagen "
        "vrijdagen "
        "zaterdagen zondagen vrijdagavond zaterdagavond zondagochtend maandagochtend",
        "R": "vandaag morgen gisteren vanavond overmorgen eergisteren vanmiddag vannacht vanochtend morgenochtend "
        "morgenavond",
        "V": "elke iedere volgende vorige komende afgelopen deze dit aankomende",
        "W": "week weken weekend weekeinde maand maanden jaar jaren dag dagen",
        "Z": "ochtend middag avond nacht ochtends middags avonds nachts",
        "N": "middernacht",
        "O": "uur",
        "Q": "kwart",
        "F": "half",
        "M": "minuten minuut",
        "U": "uren seconden seconde",
        "A": "geleden oud later",
        "b": "voor tot",
        "p": "over na",
        "g": "om rond vanaf tussen tegen",
        "f": "van",
        "E": "sinds in",
        "G": "op",
        "T": "de het",
        "&": "en",
        "o": "voor",
        "s": "als van",
        ",": "eh uhm dan streepje min spatie komma nogmaals",
        "+": "plus",
        "C": "rekening rekeningnummer referentie boeking bevestiging pincode wachtwoord bestelling polis "
        "polisnummer zaak "
        "ticket lid "
        "lidnummer klantnummer paspoort rijbewijs burgerservicenummer bsn postcode serienummer zending "
        "vlucht factuur iban "
        "verzekering toestelnummer kamer",
        "P": "telefoon telefoonnummer mobiel nummer bel bellen draai fax gsm",
        "K": "kaart creditcard visa mastercard bankpas",
        "L": "gespeld spel spellen",
        "$": "euro cent dollar dollars pond",
    },
    values=_VALUES,
    at="at|apenstaartje|apestaartje|ad",
    dot="punt|dot",
    joins="punt|dot|underscore|liggend\\sstreepje|laag\\sstreepje|streepje|koppelteken|min|plus",
    slash="slash|schuine\\sstreep",
    not_local="""e email mail adres mailadres is naar mij mijn me de het een en of alsjeblieft stuur schrijf verzend
contact bereik op via met
van voor ja nee ik ben het je u aan voeg""",
    titles="meneer|mijnheer|mevrouw|dokter|dr|professor|prof|mw|dhr",
    times="HO(?:&?(?:yd?|[det123]))?D?",
    clock="uur|u|h",
    ordinal="e|ste|de",
    currencies="euros?|cent|dollars?|pond",
    regions=("NL", "BE"),
    identifiers=("nl.bsn", "be.nn", "nl.btw"),
    domains_and_words="de|in",
    introduces=r"ik heet|mijn naam is|u spreekt met",
    hints=r"(?:mijn|jouw|je|zijn|haar|onze) (?:\w+ )?(?:vrouw|man|moeder|vader|zoon|dochter|broer|zus|"
    r"kleinzoon|kleindochter|neef|nicht|collega|baas"
    r"|vriend|vriendin|buurvrouw|buurman|zwager)|heet",
    kin="opa|oma|oom|tante",
    not_names="zegt zei wil heeft is was kan had hier niet nog een",
    street_ends="straat|(?<!s)laan|plein|gracht|kade|singel|dreef",
    not_streets="straat laan plein gracht kade singel hoofdstraat schoolplein winkelstraat",
    loose="om voor van op de het en aan bij",
    compounds="(?:een|één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf|der|veer|tach|tig|twintig|en|ën|"
    "honderd|duizend)",
    hundreds="honderd|duizend",
    years="negentienhonderd|tweeduizend",
)
