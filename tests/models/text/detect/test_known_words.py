"""Words that a tagger knows, in a filter."""

from sottovoce.models.text.detect import grams
from sottovoce.models.text.detect.known_words import FILE, KnownWords
from sottovoce.models.text.detect.tagger import SHIPPED_LANGUAGES

WORDS = [("de", f"wort{at}") for at in range(26_000)]


def test_no_known_word_is_forgotten_and_few_others_are_taken_for_known(tmp_path):
    made = KnownWords.of(WORDS)
    assert all(word in made for word in WORDS)
    assert sum(("de", f"anderes{at}") in made for at in range(10_000)) < 300
    made.write(tmp_path)
    again = KnownWords.read(tmp_path)
    assert again is not None and [w in again for w in WORDS[:99]] == [w in made for w in WORDS[:99]]
    assert (tmp_path / FILE).stat().st_size < 34_000


def test_a_word_is_known_in_its_language_alone():
    made = KnownWords.of([("de", "rathaus")])
    assert ("de", "rathaus") in made and ("nl", "rathaus") not in made


def test_an_unknown_word_has_its_parts_and_no_row_of_another_word():
    made = KnownWords.of([("de", "rathaus")])
    known, plain = grams.rows_of("Rathaus", "de", 1 << 16, made), grams.rows_of("rathaus", "de", 1 << 16)
    assert known == plain and known[0] >= grams.RESERVED
    unknown = grams.rows_of("kreisverwaltung", "de", 1 << 16, made)
    assert unknown[0] == grams.PADDING and unknown[1:] == grams.rows_of("kreisverwaltung", "de", 1 << 16)[1:]


def test_a_folder_without_them_is_read_as_before(tmp_path):
    assert KnownWords.read(tmp_path) is None


def test_the_shipped_tagger_knows_everyday_words_and_no_rare_ones():
    known = KnownWords.read(SHIPPED_LANGUAGES)
    assert known is not None
    assert all(word in known for word in (("de", "morgen"), ("pl", "jutro"), ("lv", "rīt"), ("pt", "amanhã")))
    assert sum(("de", f"{word}xqz") in known for word in "abcdefghij") < 3
