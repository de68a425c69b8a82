"""Italian."""

from __future__ import annotations

from sottovoce.models.text.languages import LETTERS, SPELLING, Language, numbers

_UNITS = "uno due tre quattro cinque sei sette otto nove"
_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"
_COMPOUNDS = {
    (ten[:-1] if unit[0] in "uo" else ten) + ("tré" if unit == "tre" else unit): 10 * (at + 2) + one + 1
    for at, ten in enumerate(_TENS.split())
    for one, unit in enumerate(_UNITS.split())
}
_NUMBERS, _VALUES = numbers(
    f"zero {_UNITS}",
    "dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove",
    _TENS,
    _COMPOUNDS | {f"{ten}tre": 23 + 10 * at for at, ten in enumerate(_TENS.split())},
    {"una": 1, "un": 1},
)

LANGUAGE = Language(
    names=("ita", "italian", "italiano"),
    classes={
        **_NUMBERS,
        "h": "cento",
        "k": "mille mila milione milioni",
        "u": "doppio triplo",
        "l": LETTERS,
        "n": SPELLING,
        "r": "primo secondo seconda terzo terza quarto quinto quinta sesto settimo ottavo nono decimo",
        "m": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "w": "lunedì martedì mercoledì giovedì venerdì sabato domenica sabati domeniche lunedi martedi "
        "mercoledi giovedi "
        "venerdi",
        "R": "oggi domani ieri stasera dopodomani stamattina stanotte domattina",
        "V": "ogni prossimo prossima prossimi prossime scorso scorsa questo questa quest successivo",
        "W": "settimana settimane mese mesi anno anni giorno giorni weekend",
        "Z": "mattina mattino pomeriggio sera notte serata",
        "N": "mezzogiorno mezzanotte",
        "Q": "quarto",
        "F": "mezza mezzo mezz mezzora",
        "M": "minuti minuto",
        "U": "ora ore secondi secondo",
        "A": "fa",
        "b": "meno",
        "g": "alle all dalle entro verso",
        "S": "tra fra",
        "f": "di del della",
        "E": "dal nel",
        "T": "il la lo le i",
        "&": "e",
        "o": "per",
        "s": "come",
        ",": "ehm trattino virgola spazio",
        "+": "più",
        "C": "conto riferimento prenotazione conferma pin password ordine polizza caso pratica biglietto "
        "socio cliente "
        "passaporto patente "
        "fiscale postale cap serie spedizione volo fattura iban assicurazione interno camera codice",
        "P": "telefono cellulare numero chiama chiamare componi fax",
        "K": "carta visa mastercard credito bancomat",
        "L": "scandisci scandire lettere",
        "$": "euro centesimi centesimo dollari dollaro franchi sterline",
    },
    values=_VALUES,
    at="chiocciola|at|chiocciolina",
    dot="punto|dot",
    joins="punto|dot|trattino\\sbasso|underscore|trattino|meno|più",
    slash="barra|slash",
    not_local="""e email mail posta elettronica indirizzo è a al me mi mia mio il la lo un una o per favore manda invia
scrivi contatto
contatta con di del sì no io sono in tuo suo su aggiungi aggiungere""",
    titles="signor|signora|signorina|signore|dottor|dottore|dottoressa|dott|professor|professore|"
    "professoressa|avvocato|ingegner|sig",
    dates="[WwmZ]V|T?(?:yd?|[det]|[12])m(?:4|k.{0,3})?|RZ",
    times="(?:(?<=g)|(?<=gT))H(?:&(?:T?[FQ]|dQ|yd?|[det])|b(?:[Td]?Q|yd?|[det]))?D?"  # alle sette, verso le sette
    "|UH(?:&(?:F|[Td]?Q|yd?|[det]))?D?"
    "|(?<=[Tl])H(?:(?:&(?:[Td]?Q|F|yd?|[det])|b(?:[Td]?Q|yd?|[det]))D?|D)|(?<=oT)H(?=$|[RwV])"  # le sette e mezza
    "|(?:(?<=S)|(?<=ST))H&T?H|(?<=S)(?:FU?|dQ[lf]?U)",  # tra le dieci e le dodici, tra mezz'ora
    clock="ore?|h",
    ordinal="º|ª|o|a|°",
    currencies="euro|centesimi|dollari|dollaro|franchi|sterline",
    regions=("IT", "CH"),
    identifiers=("it.codicefiscale", "it.iva"),
    domains_and_words="in|no|me",
    introduces=r"mi chiamo|il mio nome è|parla con",
    hints=r"(?:mi[oa]|tu[oa]|su[oa]|nostr[oa]) (?:\w+ )?(?:moglie|marito|madre|padre|figli[oa]|fratello|"
    r"sorella|nipote|cugin[oa]|zi[oa]|nonn[oa]"
    r"|cap[oa]|collega|amic[oa]|cognat[oa]|vicin[oa])|si chiama|chiama",
    kin="nonn[oa]|zi[oa]",
    not_names="è ha dice vuole può sta non più",
    street_before="via|viale|piazza|piazzale|vicolo",
    not_streets="che più e in con di da per email mail tutto tutti tutte il lo la le gli i quella quello questa "
    "questo cavo libero sviluppo estinzione definitiva twitter facebook whatsapp sms internet posta",
    loose="il i gli di del della per alle le delle dei e al alla",
    compounds="(?:un|uno|due|tre|tré|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|vent|venti|trent|"
    "trenta|quarant|quaranta|cinquant"
    "|cinquanta|sessant|sessanta|settant|settanta|ottant|ottanta|novant|novanta|cento|mille|mila)",
    hundreds="cento|mille|mila",
    years="millenovecento|duemila",
)
