"""German."""

from __future__ import annotations

from sottovoce.models.text.languages import LETTERS, SPELLING, Language, numbers

_UNITS = "ein zwei drei vier fünf sechs sieben acht neun"
_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_COMPOUNDS = {
    f"{unit}und{ten}": 10 * (at + 2) + one + 1
    for at, ten in enumerate(_TENS.split())
    for one, unit in enumerate(_UNITS.split())
}
_NUMBERS, _VALUES = numbers(
    "null eins zwei drei vier fünf sechs sieben acht neun",
    "zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
    _TENS,
    _COMPOUNDS,
    {"zwo": 2, "dreissig": 30},
)
_ORDINALS = (
    "erst zweit dritt viert fünft sechst siebt siebent acht neunt zehnt elft zwölft dreizehnt "
    "vierzehnt fünfzehnt sechzehnt "
    "siebzehnt achtzehnt neunzehnt"
)

LANGUAGE = Language(
    names=("deu", "ger", "german", "deutsch"),
    classes={
        **_NUMBERS,
        "h": "hundert",
        "k": "tausend million millionen",
        "u": "doppel",
        "l": LETTERS,
        "n": SPELLING,
        "r": " ".join(
            f"{stem}{end}"
            for stem in [*_ORDINALS.split(), *(f"{n}st" for n in [*_TENS.split(), *_COMPOUNDS])]
            for end in ("e", "en", "er")
            if f"{stem}{end}" not in ("achten", "achter")
        ),
        "m": "januar jänner februar märz april mai juni juli august september oktober november dezember",
        "w": "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags "
        "mittwochs donnerstags "
        "freitags samstags sonntags montagmorgen montagabend freitagabend samstagabend sonntagabend",
        "R": "heutige heutigen morgige morgigen gestrige heute morgen gestern übermorgen vorgestern",
        "V": "jeden jede jedes nächste nächsten nächster nächstes letzte letzten letzter letztes kommende kommenden "
        "kommendes diese diesen "
        "dieser "
        "dieses diesem vergangene vergangenen",
        "W": "woche wochen wochenende monat monate monaten monats jahr jahre jahren jahres tag tage tagen",
        "Z": "früh vormittag nachmittag abend nacht morgens vormittags nachmittags abends nachts",
        "N": "mitternacht",
        "O": "uhr",
        "Q": "viertel dreiviertel",
        "F": "halb",
        "M": "minuten minute",
        "U": "stunde stunden sekunden sekunde",
        "A": "alt später",
        "b": "vor bis",
        "p": "nach",
        "g": "um gegen ab von zwischen",
        "f": "von",
        "E": "seit jahr",
        "G": "am",
        "T": "der den dem die das",
        "&": "und",
        "o": "für",
        "s": "wie",
        ",": "äh ähm dann strich bindestrich minus leerzeichen komma nochmal",
        "+": "plus",
        "C": "konto kontonummer kundennummer referenz buchung bestätigung pin passwort bestellung "
        "bestellnummer vertrag "
        "fall ticket "
        "mitglied mitgliedsnummer personalausweis reisepass führerschein steuernummer postleitzahl plz seriennummer "
        "sendung flug "
        "rechnung rechnungsnummer bankleitzahl iban versicherung versicherungsnummer durchwahl zimmer wohnung",
        "P": "telefon telefonnummer handy handynummer mobil nummer ruf rufe anrufen wähle fax",
        "K": "karte kreditkarte visa mastercard kartennummer",
        "L": "buchstabiert buchstabiere buchstabieren",
        "$": "euro euros cent dollar franken pfund",
    },
    values=_VALUES,
    at="at|ät|klammeraffe|affenschwanz",
    dot="punkt|dot",
    joins="punkt|dot|unterstrich|bindestrich|strich|minus|plus",
    slash="slash|schrägstrich",
    not_local="""e email mail adresse mailadresse ist lautet an mich mir meine mein die der das und oder bitte schick
schicke schreib
schreibe sende senden kontakt erreichst erreichen unter per über auf in von mit für ja nein ich bin es du sie zu füge""",
    titles="herr|herrn|frau|doktor|dr|professor|prof|fräulein",
    times="HO(?:&?(?:yd?|[det123]))?D?",
    clock="uhr|h",
    ordinal=r"\.",
    currencies="euros?|cent|dollar|franken|pfund",
    regions=("DE", "AT", "CH"),
    identifiers=("de.idnr", "de.vat", "at.vnr", "at.uid", "ch.ssn"),
    introduces=r"ich heiße|mein name (?:ist|wäre|lautet)|hier spricht|(?:sie )?sprechen mit",
    hints=r"(?:meine?|deine?|unsere?|ihre?|seine?)[mnrs]? (?:\w+ )?(?:frau|mann|mutter|vater|sohn|tochter|"
    r"bruder|schwester|enkelin|enkel"
    r"|kollegin|kollege|chefin|chef|freundin|freund|cousine|cousin|nichte|neffe|nachbarin|nachbar|"
    r"schwager|schwägerin)"
    r"|heißt",
    kin="opa|oma|onkel|tante",
    not_names="hat sagt ist war meint kann will wird hier da bitte noch schon auch nicht sehr",
    street_ends="straße|strasse|gasse|allee|platz|ufer|damm",
    not_streets="hauptstraße straße strasse gasse allee platz ufer damm parkplatz arbeitsplatz sitzplatz "
    "spielplatz bahnhofsplatz stellplatz "
    "campingplatz sportplatz marktplatz fußballplatz golfplatz tennisplatz einbahnstraße autostraße "
    "bundesstraße landstraße",
    loose="am um für der die den das dem von vom im in auf und zu zum zur an bei mit ab bis",
    compounds="(?:ein|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|sech|sieb|und|zwanzig|"
    "dreißig|zig|hundert|tausend)",
    hundreds="hundert|tausend",
    years="neunzehnhundert|zweitausend",
)
