"""The language of a record: its own word first, then a guess that says "another" only where it is sure."""

import dataclasses
from importlib import import_module
from types import SimpleNamespace

import pytest

from sottovoce.models.errors import SettingsError, reason_of
from sottovoce.models.records import Source, Utterance
from sottovoce.models.settings import FAMILIES, TABLES, languages_of, read_spec, table
from sottovoce.models.text import chain
from sottovoce.models.text.detect import TAGGED
from sottovoce.models.text.language import LanguageNotSupported, code_of, guess
from sottovoce.models.text.languages import TABLE
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.languages_taken import notes_of_languages
from sottovoce.transforms.engine.job import InputSettings
from sottovoce.transforms.text.stages import _Language, known_languages


@pytest.mark.parametrize(
    ("said", "code"), [("en-US", "en"), ("EN", "en"), ("English", "en"), ("deu", "de"), ("xx_YY", "xx")]
)
def test_a_language_is_known_by_its_code_or_its_name(said, code):
    assert code_of(said) == code


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("wake me up at nine on friday please", "en"),
        ("weck mich bitte morgen früh um sieben uhr", "de"),
        ("réveille moi demain matin à sept heures", "fr"),
        ("play anna", "en"),  # too short to tell
        ("4711 0815 12 12", "en"),
    ],
)
def test_a_language_is_guessed_where_words_tell_it(text, language):
    assert guess(text, {"en"}) == language


def test_among_languages_that_are_expected_the_likeliest_is_taken():
    assert guess("weck mich morgen um sieben", {"en", "de"}) == "de"


def test_every_row_of_languages_is_a_member_and_a_known_code():
    for family in FAMILIES:
        for member, codes in import_module(TABLES[family]).LANGUAGES.items():
            assert member in table(family) and set(codes) <= set(TABLE)


def test_an_ensemble_knows_what_one_of_its_members_knows():
    assert languages_of(read_spec("detect", "default")) == set(TAGGED)
    assert languages_of(read_spec("detect", {"use": "ensemble", "detectors": ["rules", "tagger"]})) == set(TABLE)
    gazetteer = {"use": "gazetteer", "entries": {"PER": ["anna"]}}
    assert languages_of(read_spec("detect", {"use": "ensemble", "detectors": ["rules", gazetteer]})) is None


def test_a_language_that_no_stage_knows_is_refused_unless_the_job_takes_it():
    job = SimpleNamespace(detect=read_spec("detect", "rules"), replace=read_spec("replace", "typed"))
    known = known_languages(job, "detect", "replace")
    finnish = Utterance("u", "d", 0, "herätä minut huomenna aamulla kello seitsemän", Source("f", 1))
    said = Utterance("u", "d", 0, "hi", Source("f", 1), language="fi-FI")
    for record in (finnish, said):
        with pytest.raises(LanguageNotSupported) as refused:
            _Language(known, InputSettings(), "detect: rules (en)").one(record)
        code, accepted = reason_of(refused.value)
        assert code == "language_not_supported" and "all of these know: detect: rules (en);" in accepted
        assert _Language(known, InputSettings(other_languages="take")).one(record) is record
        assert _Language(None, InputSettings()).one(record) is record
    assert _Language(known, InputSettings(language="en")).one(finnish) is finnish


def test_a_record_goes_on_with_the_language_that_it_was_guessed_to_be_of():
    known = frozenset(TABLE)
    german = Utterance("u", "d", 0, "weck mich bitte morgen früh um sieben uhr", Source("f", 1))
    english = Utterance("u", "d", 0, "wake me up at nine on friday please", Source("f", 1))
    assert _Language(known, InputSettings()).one(german).language == "de"
    assert _Language(known, InputSettings()).one(english) is english
    assert _Language(known, InputSettings(language="nl")).one(english).language == "nl"


def test_speech_in_another_language_is_refused_by_what_ships():
    """Each of the members that a job has by default for speech, text or sound, knows English and nothing else."""
    members = {
        "detect": "default",
        "align": "pocketsphinx",
        "voice": "phonetic",
        "mask": "surrogate",
        "relisten": "moonshine",
    }
    for family in ("align", "voice", "mask", "relisten"):
        job = SimpleNamespace(**{name: read_spec(name, use) for name, use in members.items()})
        assert known_languages(job, "detect", family) == {"en"}


def test_a_mixed_batch_is_searched_in_the_language_of_each_record():
    rules = read_spec("detect", "rules").make()
    texts = {"de": "bis freitag", "pl": "do piątku", "en": "by friday"}
    batch = [Utterance(code, "d", 0, text, Source("f", 1), language=code) for code, text in texts.items()]
    found = chain.detected(rules, batch)
    assert [u.text[u.spans[0].begin : u.spans[0].end] for u in found] == ["freitag", "piątku", "friday"]
    assert chain.detected(rules, [dataclasses.replace(one, language=one.language.upper()) for one in batch])[1].spans
    assert not rules.detect([texts["pl"]])[0], "in English it is no date: the test would pass without the language"


def test_a_sink_that_takes_fewer_languages_than_were_meant_for_it_is_told_before_the_run_by_its_members():
    default = {family: read_job(None).members[family] for family in FAMILIES}

    def told(said=(), language=None, other_languages="refuse", **members):
        job = SimpleNamespace(
            **default | {family: read_spec(family, member) for family, member in members.items()},
            input=InputSettings(language=language, other_languages=other_languages),
            sinks={"stt_am": 1.0, "slu": 1.0},
        )
        return list(notes_of_languages(job, said))

    assert told() == told(["en-US"]) == told(language="English") == []
    forgotten = told(align="whisper", voice="mcadams")  # and `relisten`, whose default knows English alone
    assert len(forgotten) == 1 and forgotten[0].startswith("stt_am takes records in en alone")
    assert "relisten: pocketsphinx (en)" in forgotten[0] and "input.other_languages: take" in forgotten[0]
    assert told(align="whisper", voice="mcadams", relisten="whisper") == []
    assert told(["de"])[0].startswith("stt_am takes") and len(told(["de"])) == 1
    assert len(told(["fi"])) == 2 and "Anna" not in "".join(told(["Anna"]))
    assert told(["fi"], other_languages="take", align="whisper") == []


def test_a_sink_whose_members_share_no_language_is_an_error(monkeypatch):
    monkeypatch.setattr("sottovoce.models.speech.recognise.LANGUAGES", {"pocketsphinx": ("de",)})
    job = SimpleNamespace(**read_job(None).members, input=InputSettings(), sinks={"stt_am": 1.0})
    with pytest.raises(SettingsError, match=r"sinks\.stt_am: no language .*relisten: pocketsphinx \(de\)"):
        list(notes_of_languages(job, ()))
