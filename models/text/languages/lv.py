"""Latvian."""

from __future__ import annotations

from sottovoce.models.text.languages import LETTERS, SPELLING, Language, forms, numbers

_UNITS = "vien div trīs četr piec seš septiņ astoņ deviņ"
_TENS = "divdesmit trīsdesmit četrdesmit piecdesmit sešdesmit septiņdesmit astoņdesmit deviņdesmit"
_TEENS = "desmit vienpadsmit divpadsmit trīspadsmit četrpadsmit piecpadsmit sešpadsmit septiņpadsmit astoņpadsmit deviņpadsmit"
_CASES = ("i", "as", "us", "os", "ās", "iem", "ām", "u")
_NUMBERS, _VALUES = numbers(
    "nulle viens divi trīs četri pieci seši septiņi astoņi deviņi",
    _TEENS,
    _TENS,
    None,
    {
        "viena": 1,
        "vienu": 1,
        "vienos": 1,
        "trijos": 3,
        "trim": 3,
        "trijām": 3,
        "desmitos": 10,
        "vienpadsmitos": 11,
        "divpadsmitos": 12,
    }
    | {f"{stem}{case}": at + 1 for at, stem in enumerate(_UNITS.split()) if at not in (0, 2) for case in _CASES},
)
_ORDINALS = (
    "pirm otr treš ceturt piekt sest septīt astot devīt desmit vienpadsmit divpadsmit trīspadsmit "
    "četrpadsmit piecpadsmit "
    "sešpadsmit "
    "septiņpadsmit astoņpadsmit deviņpadsmit divdesmit trīsdesmit"
)
_DAYS = "pirmdien otrdien trešdien ceturtdien piektdien sestdien svētdien"

LANGUAGE = Language(
    names=("lav", "latvian"),
    classes={
        **_NUMBERS,
        "h": "simts simti simtu",
        "k": "tūkstotis tūkstoši tūkstošu miljons miljoni",
        "u": "dubult",
        "l": LETTERS,
        "n": SPELLING,
        "r": forms(_ORDINALS, ("ais", "ā", "ajā", "o", "ajam", "ajai", "ās")),
        "m": forms("janvār februār", ("is", "a", "ī", "im", "i", "u"))
        + " "
        + forms("mart august", ("s", "a", "ā", "am", "u"))
        + " "
        + forms("aprīl maij jūnij jūlij", ("is", "s", "a", "ī", "ā", "im", "am", "i", "u"))
        + " "
        + forms("septembr oktobr novembr decembr", ("is", "a", "ī", "im", "i", "u")),
        "w": forms(_DAYS, ("a", "as", "ai", "u", "ā", "ās", "ām", "")),
        "R": "šonedēļ nākamnedēļ nākošnedēļ rītdienai šodiena šodien rīt vakar šovakar parīt aizvakar šonakt šorīt "
        "rītdien rītdienas rītdienu šodienas vakardienas "
        "rītvakar rītrīt",
        "V": "katru nākamo nākamā nākamajā nākamās nākamais nākamajam nākošo nākošajā nākošās pagājušo "
        "pagājušajā pagājušā "
        "pagājušās šo šī šajā "
        "šīs šonedēļ iepriekšējā iepriekšējo",
        "W": "nedēļa nedēļas nedēļu nedēļā nedēļām nedēļai mēnesis mēneša mēnesi mēnesī mēnešiem mēneši "
        "gads gada gadu "
        "gadā gadiem gadi "
        "diena dienas dienu dienā dienām brīvdiena brīvdienas brīvdienās",
        "Z": "rīta rītā rītu rīts pēcpusdienā pēcpusdiena vakarā vakara vakars naktī nakts priekšpusdienā",
        "N": "pusnakts pusnaktī pusdienlaikā",
        "O": "pulksten plkst",
        "F": "pusē pus",
        "M": "minūtes minūtēm minūtē minūtes minūšu",
        "U": "stunda stundas stundām stundu stundā sekundes sekundēm",
        "A": "atpakaļ vecs veca",
        "p": "pāri pēc",
        "b": "līdz bez",
        "g": "ap no starp kopš",
        "f": "gada",
        "E": "kopš",
        "T": "datumā",
        "&": "un",
        "o": "priekš",
        "s": "kā",
        ",": "ē domuzīme defise komats atstarpe",
        "+": "plus",
        "C": "konts konta kontu rezervācija rezervācijas apstiprinājums pin parole pasūtījums pasūtījuma "
        "polise polises "
        "biļete klienta pase "
        "pases personas kods kodu indekss sērijas sūtījums reiss rēķins iban apdrošināšana istaba",
        "P": "telefons telefona tālrunis tālruņa mobilais numurs numuru zvani piezvani zvanīt fakss",
        "K": "karte kartes karti visa mastercard",
        "L": "nosauc burtos",
        "$": "eiro cents centi centu dolārs dolāri dolāru",
    },
    values=_VALUES,
    at="et|at|ets|ēts",
    dot="punkts|dot",
    joins="punkts|dot|apakšsvītra|pasvītra|defise|domuzīme|svītra|mīnus|plus",
    slash="slīpsvītra|slash",
    not_local="""e epasts epastu epasta mail adrese adresi ir uz man mans mana un vai lūdzu sūti nosūti raksti uzraksti
kontakts ar no par jā nē
es esmu tas tu jūs""",
    titles="kungs|kundze|kundzei|kungam|kunga|kundzes|kungu|kundzi|ārsts|dakteris|profesors|profesore|dr",
    dates="V[Ww]|y?rm(?:4|k.{0,3})?|[12]m4?|4f?|RZ|wZ|Wr?V",
    times="OH(?:&?(?:yd?|[det123]|F))?D?|(?<=[gb])H(?:yd?|[det])?D?|F[de]",
    clock="plkst|h",
    ordinal=r"\.",
    currencies="eiro|centu|centi|dolāru|dolāri",
    regions=("LV",),
    identifiers=("lv.pvn",),
    titles_find=False,
    introduces=r"mani sauc|mans vārds ir|mans uzvārds ir|klausās",
    hints=r"(?:man[as]|tav[as]|mūsu|manam|manai|manu) (?:\w+ )?(?:sieva|vīrs|māte|tēvs|dēls|meita|brālis|"
    r"māsa|mazdēls|draugs|draudzene|priekšnieks"
    r"|kolēģis|kolēģe|sievai|vīram|mātei|tēvam|dēlam|meitai|brālim|māsai|mazdēlam|draugam|draudzenei)"
    r"|sauc",
    kin="vectēvs|vecmāmiņa|onkulis|tante|tantei|onkulim|vectēvam|vecmāmiņai",
    not_names="ir un bija grib var saka",
    street_after="iela|ielas|ielai|ielu|ielā|bulvāris|bulvārī|bulvāra|gatve|gatvē|prospekts|prospektā|laukums|"
    "laukumā|šoseja|šosejā",
    not_streets="kādu kāda šī šajā tā tajā uz no pa kura mana manā galvenā galvenajā",
    loose="uz ir par un ar",
)
