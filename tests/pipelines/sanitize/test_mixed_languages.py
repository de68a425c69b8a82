"""Records of several languages in one run: each is searched and replaced in its own, and one that nobody knows is refused."""

from __future__ import annotations

import json

import pytest
from whole_runs import only_run, rows, sottovoce, write_secret

SAID = {
    "de": "ruf frau weber am dreiundzwanzigsten märz an",
    "pl": "zadzwoń do pani nowak w piątek o siódmej rano",
    "lv": "piezvani jānim piektdien pulksten septiņos no rīta",
    "en": "call john smith tomorrow at seven pm",
    "fi": "herätä minut huomenna aamulla kello seitsemän",
}
GONE = ("weber", "nowak", "jānim", "john", "smith", "märz", "piątek", "seitsemän")


@pytest.mark.slow
def test_each_record_is_handled_in_its_own_language_and_an_unknown_one_is_refused(tmp_path):
    corpus = tmp_path / "said.jsonl"
    guessed = ("lv", "en")  # these two do not say what they are
    records = [
        {"dialogue_id": code, "turn": 0, "text": text} | ({} if code in guessed else {"language": code})
        for code, text in SAID.items()
    ]
    corpus.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    flags = ["--input", corpus, "--output", tmp_path / "out", "--secret-file", write_secret(tmp_path / "secret")]
    sottovoce("sanitize", *flags, "--set=sinks={slu: 1}", "--set=replace=typed")
    run = only_run(tmp_path / "out")
    released = {row["language"]: row["text"] for row in rows(run, "slu")}
    assert set(released) == {"de", "pl", "lv", None}
    assert not {word for text in released.values() for word in text.split()} & set(GONE)
    assert "[DATE]" in released["pl"] and "[PER]" in released["lv"]
    assert json.loads((run / "croissant.json").read_text())["inLanguage"] == ["de", "en", "lv", "pl"]  # what is in it

    polish = ["--output", tmp_path / "out", "--secret-file", tmp_path / "secret", "--dialogue", "pl"]
    sottovoce("forget", *polish)
    assert json.loads((run / "croissant.json").read_text())["inLanguage"] == ["de", "en", "lv"]
