"""What every language of the table has, and what the rules find with it."""

import random
import re

import pytest

from sottovoce.models.records import Span
from sottovoce.models.text.detect import LANGUAGES, TAGGED
from sottovoce.models.text.detect.overlap import tidied
from sottovoce.models.text.detect.patterns import addresses_of
from sottovoce.models.text.detect.rules import TYPES, Rules
from sottovoce.models.text.detect.spoken_patterns import calendar_of
from sottovoce.models.text.languages import REQUIRED_CLASSES, TABLE, language
from sottovoce.models.text.words import class_table, digits_of, read_words

OTHERS = sorted(set(TABLE) - {"en"})


@pytest.mark.parametrize("code", TABLE)
def test_every_language_has_months_weekdays_digits_at_and_dot(code):
    own = language(code)
    assert all(own.words(kind) for kind in REQUIRED_CLASSES)
    assert len(own.words("m")) + len(own.words("j")) >= 12
    assert len(own.words("w")) >= 7
    assert own.at and own.dot and own.joins and own.titles and own.names and own.regions
    for part in (own.at, own.dot, own.joins, own.slash, own.titles, own.clock, own.ordinal, own.currencies):
        re.compile(part)
    assert addresses_of(code) and calendar_of(code)


@pytest.mark.parametrize("code", OTHERS)
def test_a_word_is_read_as_one_word_of_its_class(code):
    """A word that the reader of words cuts in two would never be met."""
    _, table = class_table(code)
    whole = {word for word in table if " " not in word and "." not in word}
    assert {word for word in whole if len(read_words(word, code).classes) == 1} == whole


@pytest.mark.parametrize("code", OTHERS)
def test_number_words_dictate_figures(code):
    own = language(code)
    ten = {value: word for word, value in own.values.items() if value < 10}
    assert digits_of([ten[figure] for figure in range(10)], code) == "0123456789"
    tens = {value: word for word, value in own.values.items() if value in (20, 40)}
    assert digits_of([tens[40], ten[2], tens[20]], code) == "4220"


@pytest.mark.parametrize("code", OTHERS)
def test_every_month_and_weekday_is_a_date_in_its_language(code):
    rules = Rules()
    for kind in "mw":
        for word in language(code).words(kind):
            assert [span.type for span in rules.detect_in(code, [f"xyzzy {word}"])[0]] == ["DATE"], word


@pytest.mark.parametrize("code", OTHERS)
def test_a_form_of_address_is_no_name_but_what_follows_it_is(code):
    for title in language(code).titles.split("|"):
        text = f"{title} {title}. xyzzy"
        alone, name = Span(0, len(title), "LOC"), Span(len(text) - 5, len(text), "PER")
        assert tidied([alone, name], text, code) == [name]
        assert tidied([Span(0, 2 * len(title) + 2, "PER")], text, code) == []
        assert tidied([Span(0, len(text), "PER")], text, code) == [name]


@pytest.mark.parametrize("code", OTHERS)
def test_an_address_is_found_as_it_is_said(code):
    own = language(code)
    at, dot = own.at.split("|")[0], own.dot.split("|")[0]
    text = f"xyzzy anna {dot} berga {at} example {dot} com"
    ((span,),) = Rules(types=("EMAIL",)).detect_in(code, [text])
    assert text[span.begin : span.end].endswith(f"anna {dot} berga {at} example {dot} com")
    ((span,),) = Rules(types=("URL",)).detect_in(code, [f"www {dot} example {dot} org"])
    assert span.type == "URL"


@pytest.mark.parametrize(
    ("code", "text", "found"),
    [
        ("de", "ruf frau weber am dreiundzwanzigsten märz um viertel nach sechs an",
         {"PER": "weber", "DATE": "dreiundzwanzigsten märz", "TIME": "viertel nach sechs"}),
        ("de", "meine nummer ist null eins sieben sechs fünf fünf fünf null eins zwei drei", {"": "null eins sieben sechs"}),
        ("de", "um 7 Uhr 30 am 3. Mai 2024 für 20 Euro", {"TIME": "7 Uhr 30", "DATE": "3. Mai 2024", "AMOUNT": "20 Euro"}),
        ("es", "llama al señor garcía el tres de mayo a las siete y media de la tarde",
         {"PER": "garcía", "DATE": "tres de mayo", "TIME": "siete y media de la tarde"}),
        ("fr", "rappelle madame leroy le premier mai à sept heures et demie du matin",
         {"PER": "leroy", "DATE": "premier mai", "TIME": "sept heures et demie du matin"}),
        ("it", "chiama la signora rossi il tre maggio alle sette e mezza",
         {"PER": "rossi", "DATE": "tre maggio", "TIME": "sette e mezza"}),
        ("lv", "pamodini mani piektdien pulksten septiņos no rīta", {"DATE": "piektdien", "TIME": "pulksten septiņos no rīta"}),
        ("nl", "bel mevrouw de vries morgen om kwart over zes", {"DATE": "morgen", "TIME": "kwart over zes"}),
        ("pl", "zadzwoń do pani nowak w piątek o siódmej rano", {"PER": "nowak", "DATE": "piątek", "TIME": "siódmej rano"}),
        ("pt", "liga à senhora costa sexta-feira às sete e meia", {"PER": "costa", "DATE": "sexta-feira", "TIME": "sete e meia"}),
    ],
)  # fmt: skip
def test_what_is_said_is_found_in_its_language(code, text, found):
    spans = Rules().detect_in(code, [text])[0]
    shown = [(span.type, text[span.begin : span.end]) for span in spans]
    for type_, value in found.items():
        assert any(type_ in ("", shown_type) and value in stretch for shown_type, stretch in shown), shown


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("it", "svegliami per le sette e mezza", "sette e mezza"), ("it", "sono le nove meno dieci", "nove meno dieci"),
        ("it", "alle sette e un quarto", "sette e un quarto"), ("it", "le tre del pomeriggio", "tre del pomeriggio"),
        ("it", "tra un quarto d'ora", "un quarto d'ora"), ("it", "fra mezz'ora", "mezz'ora"),
        ("it", "l'una e mezza", "una e mezza"),
        ("it", "tra le dieci e le dodici", "dieci e le dodici"), ("it", "ore venti e trenta", "ore venti e trenta"),
        ("pl", "za godzinę", "godzinę"), ("pl", "za pół godziny", "pół godziny"), ("pl", "wpół do ósmej", "wpół do ósmej"),
        ("pl", "kwadrans po ósmej", "kwadrans po ósmej"), ("pl", "za pięć dziewiąta", "za pięć dziewiąta"),
        ("pl", "o dwudziestej pierwszej", "dwudziestej pierwszej"), ("pl", "dziewiąta wieczorem", "dziewiąta wieczorem"),
        ("pl", "od dziesiątej do dwunastej", "dziesiątej do dwunastej"), ("pl", "spotkajmy się przed siódmą", "siódmą"),
        ("pl", "w dwa tysiące siedemnastym", "dwa tysiące siedemnastym"),
        ("pl", "dwudziestego drugiego marca", "dwudziestego drugiego marca"),
        ("fr", "à quatre vingt dix sept ans", "quatre vingt dix sept ans"),
    ],
)  # fmt: skip
def test_hours_and_days_are_found_whole_as_they_are_said(code, text, value):
    assert value in [text[span.begin : span.end] for span in Rules().detect_in(code, [text])[0]]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "news of the b b c"), ("en", "play b b c four"), ("en", "ninety nine point five f m"),
        ("pl", "graj r. m. f. f. m."),
        ("de", "was sagt n. t. v."), ("fr", "la fréquence neuf cent quatre vingt dix neuf fm"),
        ("es", "desde este punto de este audiolibro"),
        ("pt", "depende do ponto de vista"), ("fr", "à partir de ce point de ce livre"),
        ("es", "un día agotador"), ("fr", "un dollar vaut plus"),
        ("it", "le due torri"), ("pl", "na drugą stronę"),
    ],
)  # fmt: skip
def test_stations_idioms_and_one_of_a_kind_are_nothing(code, text):
    assert Rules().detect_in(code, [text])[0] == []


def test_letters_that_somebody_asks_for_are_a_code_whatever_they_spell():
    assert [span.type for span in Rules().detect(["booking reference b b c"])[0]] == ["CODE"]


def test_a_french_number_of_several_words_is_one():
    words = read_words("zéro six quatre-vingt-dix-sept soixante et onze", "fr")
    assert digits_of(words.lowered, "fr") == "069771"


# Made for these tests by the rules of their check digits; nobody's, as far as can be told.
@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("de", "36574261809"), ("es", "54362315K"), ("fr", "295109912611193"), ("it", "RCCMNL83S18D969H"), ("lv", "16117519997"),
        ("en", "AB123456C"), ("en", "ACUPA7085R"), ("en", "6433435F"), ("en", "234123412346"), ("en", "83914571673"),
        ("nl", "111222333"), ("pl", "44051401359"), ("pt", "501964843"),
    ],
)  # fmt: skip
def test_a_national_identifier_is_known_by_its_check_digits_and_found_without_them(code, number):
    rules = Rules()
    assert [span.type for span in rules.detect_in(code, [f"xyzzy {number}"])[0]] == ["ID"]
    wrong = number[:-1] + ("1" if number[-1] != "1" else "2") if number[-1].isdigit() else f"{number[:-1]}A"
    assert rules.detect_in(code, [f"xyzzy {wrong}"])[0], "a failed check never clears a number"


@pytest.mark.parametrize(
    "text",
    [
        "ssn 536-90-4399", "social security number five three six nine oh four three nine nine", "nhs number 943 476 5919",
        "nhs number nine four three four seven six five nine one nine", "insurance number AB 12 34 56 C",
        "insurance number is a b one two three four five six c", "my sin is 123-456-782", "tax file number 123 456 782",
        "medicare number 2123 45670 1", "pps number is six four three three four three five f", "ird number 49-091-850",
        "aadhaar two three four one two three four one two three four six",
    ],
)  # fmt: skip
def test_identifiers_of_english_speaking_countries_are_known_by_a_word_before_them(text):
    found = [span.type for span in Rules().detect([text])[0]]
    assert found == ["ID"]


@pytest.mark.parametrize("number", ["0412 345 678", "(03) 9123 4567", "9876543210", "021 123 4567", "415 555 2671"])
def test_telephone_numbers_of_english_speaking_countries(number):
    assert [span.type for span in Rules().detect([f"it is {number}"])[0]] == ["PHONE"]


@pytest.mark.parametrize("code", TABLE)
def test_any_row_of_its_words_is_searched_without_an_error(code):
    """A filler between two numbers once was taken for a number."""
    draw = random.Random(7)
    words = [*class_table(code)[1], "7", "23", "1980", "xyzzy", "x@y.z", ".", "+49"]
    texts = [" ".join(draw.choices(words, k=draw.randrange(1, 9))) for _ in range(300)]
    for text, spans in zip(texts, Rules().detect_in(code, texts), strict=True):
        assert all(0 <= span.begin < span.end <= len(text) for span in spans)


def test_a_language_that_no_table_knows_is_read_as_english():
    assert Rules().detect_in("xx", ["call me on monday"]) == Rules().detect(["call me on monday"])


def test_the_taggers_know_no_language_that_the_rules_do_not():
    assert set(TAGGED) <= set(TABLE) == set(LANGUAGES["rules"])
    assert "ID" in TYPES
