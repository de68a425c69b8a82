"""`sottovoce try` shows before and after, and says what is wrong with what was given."""

from __future__ import annotations

import pytest
import soundfile
from whole_runs import DEMO, sottovoce


def test_a_text_is_shown_with_its_spans_and_every_strategy():
    shown = sottovoce("try", "email [x] to anna@example.com", "--detect", "rules").stdout
    assert "EMAIL   anna@example.com" in shown and "email [x] to [EMAIL]" in shown
    assert all(f"  {strategy}" in shown for strategy in ("redact", "typed", "named", "word", "full", "consistent"))


def test_german_is_guessed_as_in_a_run_and_said_and_what_nobody_knows_is_refused_with_what_is_accepted():
    german = "bitte ruf anna am freitag um neun uhr an"
    assert sottovoce("try", german, "--detect", "rules").stdout.startswith("language  de, guessed")
    done = sottovoce("try", german, "--detect", "rules", "--language", "xx", check=False)
    assert done.returncode == 1 and "error: language_not_supported; accepted: a language that" in done.stderr


@pytest.mark.slow
def test_a_recording_is_written_in_another_voice_without_the_sensitive_words(tmp_path):
    source, out = DEMO / "audio" / "travel-02-4.flac", tmp_path / "tried.wav"
    shown = sottovoce("try", source, "--text", "book it for ingrid solberg", "--out", out).stdout
    assert "speech    book it for\n" in shown and "masked" in shown
    assert soundfile.info(out).duration > 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.wav"], "no such file"),
        (["  "], "the text is empty"),
        (["hello", "--text", "hello"], "is no recording"),
        (["hello", "--detect", "nobody"], "allowed: default"),
    ],
)
def test_what_is_wrong_is_said_plainly(arguments, words):
    done = sottovoce("try", *arguments, check=False)
    assert done.returncode == 2 and words in done.stderr
