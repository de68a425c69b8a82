"""A crowd release as it was once: the same corpus, job, secret and nonce give the same records, byte for byte.

`golden/crowd` holds the corpus, the options and what came out. A change here is a change of what every user's runs release: it
belongs in the changelog. `python tests/transforms/text/test_crowd_golden.py` writes the folder anew.
"""

from __future__ import annotations

import json
from pathlib import Path

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Utterance
from sottovoce.models.settings import read_spec
from sottovoce.models.text.rewrite.release import release

GOLDEN = Path(__file__).with_name("golden") / "crowd"
SECRET, NONCE = Secret(b"the secret of the golden run"), "the golden execution"


def corpus() -> list[Utterance]:
    rows = [json.loads(line) for line in (GOLDEN / "corpus.jsonl").read_text("utf-8").splitlines()]
    return [
        Utterance(
            row["id"], row["dialogue_id"], 0, row["text"], Source("corpus.jsonl", line), speaker_id=row.get("speaker_id"),
            intent=row["intent"], slots=tuple(Slot(*slot) for slot in row["slots"]),
        )
        for line, row in enumerate(rows, 1)
    ]  # fmt: skip


def released() -> dict:
    options = json.loads((GOLDEN / "job.json").read_text("utf-8"))
    found = {}
    for sink in ("slu", "stt_lm"):
        records, covered = release(read_spec("rewrite", options["rewrite"]).make(), corpus(), sink, SECRET, NONCE)
        lines = sorted([one.id, one.text, one.intent, [[s.begin, s.end, s.name] for s in one.slots]] for one in records)
        found[sink] = {"utterances_covered": covered, "records": lines}
    return found


def test_the_golden_corpus_gives_the_golden_release():
    assert released() == json.loads((GOLDEN / "released.json").read_text("utf-8"))


def main() -> None:
    """Forty speakers, three templates that a crowd shares, one ladder; a sentence, an intent and a slot of one alone."""
    rows = []
    cities, songs = ["rome", "oslo", "lima", "quito"], ["yellow submarine", "hey jude"]
    for i in range(40):
        city, song, who = cities[i % 4], songs[i % 2], {"speaker_id": f"s{i}"} if i % 10 else {}
        rows.append({"text": f"weather in {city}", "intent": "weather", "slots": [[11, 11 + len(city), "city"]]} | who)
        rows.append({"text": f"play {song}", "intent": "music", "slots": [[5, 5 + len(song), "song"]]} | who)
        rows.append({"text": f"{('please', 'now', 'so', 'well')[i % 4]} {('do', 'just', 'i want to')[i % 3]} check the time",
                     "intent": "time", "slots": []} | who)  # fmt: skip
    rows.append({"text": "xochiquetzal is late", "intent": "hers", "slots": [[0, 12, "who"]], "speaker_id": "her"})
    lines = [json.dumps({"id": f"u{n}", "dialogue_id": f"d{n // 3}"} | row) for n, row in enumerate(rows)]
    GOLDEN.mkdir(parents=True, exist_ok=True)
    (GOLDEN / "corpus.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    ladder = {"said": 0.2, "full": 0.4, "skeleton": 0.2, "parts": 0.2}
    job = {"rewrite": {"use": "crowd", "epsilon": 8.0, "delta": 1e-5, "copies": 30, "ladder": ladder}}
    (GOLDEN / "job.json").write_text(json.dumps(job, indent=1) + "\n", "utf-8")
    (GOLDEN / "released.json").write_text(json.dumps(released(), indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
