"""Names, streets, spelled names and numbers of one word, told by rules in other languages than English."""

import pytest

from sottovoce.models.text.detect.rules import Rules
from sottovoce.models.text.languages import TABLE, language

OTHERS = sorted(set(TABLE) - {"en"})


def found(code, text):
    return [(span.type, text[span.begin : span.end]) for span in Rules().detect_in(code, [text])[0]]


@pytest.mark.parametrize(
    ("code", "text", "name"),
    [
        ("de", "guten tag ich heiße xandra von der quell und rufe an", "xandra von der quell"),
        ("es", "me llamo xandra de la quill y llamo", "xandra de la quill"),
        ("fr", "bonjour je m'appelle xandra quille et", "xandra quille"),
        ("it", "mi chiamo xandra quilla e chiamo", "xandra quilla"),
        ("fr", "je m'appelle xandra-lou quille et", "xandra-lou quille"),
        ("lv", "labdien mani sauc xandra kvilla un", "xandra kvilla"),
        ("nl", "mijn naam is xandra de kwil en", "xandra de kwil"),
        ("pl", "nazywam się xandra kwil i dzwonię", "xandra kwil"),
        ("pt", "chamo-me xandra quila e estou a ligar", "xandra quila"),
    ],
)
def test_who_says_their_name_is_found_whatever_the_name(code, text, name):
    assert ("PER", name) in found(code, text)


@pytest.mark.parametrize(
    ("code", "text", "street"),
    [
        ("de", "ich wohne in der xyzzygasse zwölf", "xyzzygasse zwölf"), ("es", "en la calle xyzzy 5", "calle xyzzy 5"),
        ("fr", "j'habite rue des xyzzys", "rue des xyzzys"), ("it", "abito in via xyzzy dieci", "via xyzzy dieci"),
        ("lv", "es dzīvoju xyzzy ielā pieci", "xyzzy ielā pieci"), ("nl", "in de xyzzystraat acht", "xyzzystraat acht"),
        ("pl", "na ulicy xyzzy pięć", "ulicy xyzzy pięć"), ("pt", "moro na rua do xyzzy doze", "rua do xyzzy doze"),
    ],
)  # fmt: skip
def test_a_street_is_found_with_the_number_of_the_house(code, text, street):
    assert ("LOC", street) in found(code, text)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "ich suche einen parkplatz"), ("de", "ich heiße nicht so"), ("fr", "mettre en place le jeu"),
        ("fr", "quelle rue dois-je prendre"), ("es", "que calle tomo"), ("it", "scrivi via email"), ("it", "in via di sviluppo"),
        ("nl", "ik wil dit opslaan"), ("pl", "czy może pan powiedzieć"), ("pl", "pani miała rację"), ("pt", "que rua sigo"),
        ("lv", "pa kādu ielu"), ("es", "mi hermana trabaja"), ("de", "meine schwester kommt"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_name_or_a_street_is_nothing(code, text):
    assert found(code, text) == []


def test_a_listed_given_name_is_found_after_kin_whatever_its_ending():
    assert ("PER", "agnieszkę") in found("pl", "znam moją siostrę i moja siostra agnieszkę")
    assert ("PER", "tía rosa") in found("es", "ayer vino la tía rosa")


@pytest.mark.parametrize("code", OTHERS)
def test_a_form_of_address_that_introduces_nobody_and_a_bare_cue_are_nothing(code):
    for title in language(code).titles.split("|"):
        assert found(code, title) == []


@pytest.mark.parametrize(
    ("code", "text", "value"),
    [
        ("de", "noch hundertfünfzig euro", ("AMOUNT", "hundertfünfzig euro")),
        ("it", "centoventi euro", ("AMOUNT", "centoventi euro")),
        ("nl", "ruim driehonderdtwintig euro", ("AMOUNT", "driehonderdtwintig euro")),
        ("de", "geboren neunzehnhundertvierundsechzig", ("DATE", "neunzehnhundertvierundsechzig")),
        ("it", "nel millenovecentotrenta", ("DATE", "millenovecentotrenta")),
        ("nl", "in negentienhonderdtachtig", ("DATE", "negentienhonderdtachtig")),
    ],
)  # fmt: skip
def test_numbers_of_one_word_are_amounts_and_years(code, text, value):
    assert value in found(code, text)


@pytest.mark.parametrize("code", OTHERS)
def test_a_name_that_is_spelled_is_a_code_with_its_vowels(code):
    assert ("CODE", "k o e l i") in found(code, "xyzzy k o e l i")


def test_articles_before_a_date_stay():
    assert ("DATE", "tres de mayo") in found("es", "llegó el tres de mayo")
    assert ("DATE", "premier juin") in found("fr", "signé le premier juin")
    assert ("DATE", "primo giugno") in found("it", "firmato il primo giugno")


def test_long_rows_of_number_parts_are_read_in_linear_time():
    for code, part in (("de", "sieben"), ("it", "uno"), ("nl", "een")):
        assert found(code, f"x {part * 5000}q") == []
