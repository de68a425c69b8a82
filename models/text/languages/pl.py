"""Polish."""

from __future__ import annotations

from sottovoce.models.text.languages import LETTERS, SPELLING, Language, forms, numbers

_NUMBERS, _VALUES = numbers(
    "zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć",
    "dziesięć jedenaście dwanaście trzynaście czternaście piętnaście szesnaście siedemnaście "
    "osiemnaście dziewiętnaście",
    "dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt",
    None,
    {"jedna": 1, "jedno": 1, "dwie": 2, "dwóch": 2, "trzech": 3, "czterech": 4, "pięciu": 5, "dziesięciu": 10},
)
_ORDINALS = (
    "pierwsz drug trzeci czwart piąt szóst siódm ósm dziewiąt dziesiąt jedenast dwunast trzynast "
    "czternast piętnast szesnast "
    "siedemnast osiemnast dziewiętnast dwudziest trzydziest"
)

LANGUAGE = Language(
    names=("pol", "polish", "polski"),
    classes={
        **_NUMBERS,
        "h": "sto dwieście trzysta czterysta pięćset",
        "k": "tysiąc tysiące tysięcy milion miliony",
        "u": "podwójne podwójny",
        "l": LETTERS,
        "n": SPELLING,
        "r": forms(_ORDINALS, ("y", "a", "ej", "ego", "ą", "e", "ym"))
        + " trzeci trzecia trzecią druga drugiego drugiej",
        "m": "styczeń stycznia styczniu luty lutego lutym marzec marca marcu kwiecień kwietnia kwietniu "
        "maj maja maju "
        "czerwiec czerwca "
        "czerwcu lipiec lipca lipcu sierpień sierpnia sierpniu wrzesień września wrześniu październik października "
        "październiku "
        "listopad listopada listopadzie grudzień grudnia grudniu",
        "w": "poniedziałek poniedziałku poniedziałki wtorek wtorku wtorki środa środę środy środzie "
        "czwartek czwartku "
        "czwartki piątek "
        "piątku piątki sobota sobotę soboty sobocie niedziela niedzielę niedzieli niedziele",
        "R": "dzisiejsza jutrzejsza dzisiejszą dziś dzisiaj jutro wczoraj pojutrze przedwczoraj jutra dzisiejszy "
        "dzisiejsze jutrzejszy jutrzejsze jutrzejszą",
        "V": "każdy każdą każdego następny następną następnym następnego następna przyszły przyszłym "
        "przyszłego przyszłą "
        "ostatni ostatnim "
        "ostatnią zeszły "
        "zeszłym zeszłego ten tę tym tego tej najbliższy najbliższą bieżący",
        "W": "tydzień tygodnia tygodniu tygodnie tygodni weekend weekendu miesiąc miesiąca miesiącu "
        "miesiące miesięcy rok "
        "roku lata lat "
        "dzień dni dnia",
        "Z": "rano ranem popołudniu południu południe wieczór wieczorem nocy noc",
        "N": "północ północy południe",
        "O": "godzina godzinie godziny godz",
        "Q": "kwadrans",
        "F": "pół wpół",
        "M": "minut minuty minuta minutę",
        "U": "godzin godzinę sekund sekundy",
        "A": "temu później",
        "b": "za przed",
        "p": "po",
        "g": "o około między",
        "S": "do na",
        "f": "z",
        "E": "od w",
        "T": "dnia",
        "&": "i",
        "o": "dla",
        "s": "jak",
        ",": "yyy eee myślnik kreska przecinek spacja",
        "+": "plus",
        "C": "konto konta referencyjny rezerwacja rezerwacji potwierdzenie pin hasło zamówienie "
        "zamówienia polisa polisy "
        "sprawa bilet klienta "
        "paszport paszportu dowód dowodu pesel nip regon pocztowy seryjny przesyłka lot faktura iban ubezpieczenie "
        "wewnętrzny pokój kod",
        "P": "telefon telefonu komórka komórkę numer zadzwoń wybierz fax tel",
        "K": "karta karty kartę visa mastercard",
        "L": "przeliteruj literuję",
        "$": "złoty złote złotych zł grosz groszy euro dolar dolary dolarów",
    },
    values=_VALUES,
    at="małpa|małpka|at",
    dot="kropka|dot",
    joins="kropka|dot|podkreślnik|podkreślenie|myślnik|kreska|minus|plus",
    slash="ukośnik|slash",
    not_local="""e email mail poczta adres to jest na do mnie mój moja mi i lub proszę wyślij napisz kontakt pod przez z
dla tak nie ja jestem
się na jej jego dodaj""",
    titles="pan|pani|pana|panu|panem|panią|doktor|doktora|dr|profesor|profesora|prof|inżynier",
    # An hour or a day is an ordinal, of twenty and more in two: "dwudziestej pierwszej"; so is the end of a year.
    dates="V[Ww]|[Ww]V|[yr]?rm(?:4|dk[yr]?rW?|k.{0,3})?|[12]m4?|Wf?V|(?<=E)dk[yr]?rW?|(?<=b)W",
    times="(?<=g)[yr]?r(?:yd?|[det123])?D?|O(?:[yr]?r|[123])(?:yd?|[det123])?D?|b(?:Q|yd?|[det])[yr]?r|"
    "F[Sx]?[yr]?r|[yr]?rp?Z"
    "|(?:yd?|[det]|Q)px?[yr]?r|pZ|(?<=[gE])[yr]?r[lxS][yr]?r|(?<=[Sbp])[yr]?r(?=$|[RwV])|(?<=b)(?:U|F[OU])",
    clock="godz|h",
    ordinal=r"\.|go|ej",
    currencies="zł|złotych|złote|złoty|groszy|euro|dolarów|dolary",
    regions=("PL",),
    identifiers=("pl.pesel", "pl.nip", "pl.regon"),
    introduces=r"nazywam się|mam na imię|z tej strony|przy telefonie",
    hints=r"(?:moja|mój|mojej|mojego|moim|moją|mojemu|nasz|nasza|twój|twoja) (?:\w+ )?(?:żona|mąż|matka|"
    r"ojciec|mama|tata|syn|córka|brat|siostra"
    r"|wnuk|wnuczka|kuzyn|kuzynka|wujek|ciocia|szef|szefowa|kolega|koleżanka|sąsiad|sąsiadka|szwagier|"
    r"żony|męża|syna|córki|brata"
    r"|siostry|szefa|kolegi|koleżanki|synem|córką|bratem|siostrą|żoną|mężem)"
    r"|nazywa się|ma na imię",
    kin="dziadek|dziadka|babcia|babci|babcią|wujek|wujka|ciocia|cioci|ciocię",
    not_names="jest ma wie chce może będzie mówi powie dzwoni mi mnie się nie tu to już ze z w",
    not_name_ends="ć|ał|ał[aoy]|ił|ił[aoy]|ył|ył[aoy]|li|cie|sz|my",
    street_before="ulica|ulicy|ulicę|ulicą|aleja|alei|aleję|aleje|plac|placu|placem|osiedle|osiedlu",
    not_streets="na w do z i jest gdzie",
    loose="na z do i dla",
)
