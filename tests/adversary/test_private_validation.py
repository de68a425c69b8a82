"""Attacker: has a model with its card, and knows all lines that it was validated on but one.

Scores on held-out lines are exact and charged to nobody. Where the card shows them, the attacker tries every line that the last
one may be, and the score tells which it was.
"""

import json
import math
from collections import Counter

import pytest

from sottovoce.pipelines.cli import main

KNOWN = [f"turn the {thing} {way}" for thing in ("light", "radio", "heater", "fan") for way in ("on", "off")]
SECRETS = [
    "call anna",
    "call anna about the loan",
    "turn anna on",
    "the light is off",
    "my heater is on fire",
    "off off off",
]


def trained(tmp_path, secret, public):
    """The files of the folder that is given away, where `secret` is one of the lines that are validated on."""
    folder = tmp_path / f"{public}-{SECRETS.index(secret)}"
    folder.mkdir()
    for name, lines in (("train", KNOWN * 4), ("validation", [*KNOWN, secret])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in lines))
    settings = {"task": "lm", "model": {"use": "counts", "size": 50}, "mode": "per_example", "z0": 5.0,
                "validation": str(folder / "validation.jsonl"), "validation_is_public": public}  # fmt: skip
    (folder / "train.yaml").write_text(json.dumps(settings))
    order = ["train", "--data", folder / "train.jsonl", "--config", folder / "train.yaml", "--out", folder / "out"]
    assert main([str(part) for part in order]) == 0
    given_away = [path for path in (folder / "out").rglob("*") if path.is_file() and "private" not in path.parts]
    return {path.name: path.read_text() for path in given_away}


def attack(files):
    """The attacker tries every line that it could have been against the perplexity of the words alone."""
    said = json.loads(files["privacy_card.json"])["validation"]
    if said is None:
        return None
    return min(SECRETS, key=lambda line: abs(_of_words([*KNOWN, line]) - said["unigram_perplexity"]))


def _of_words(lines):
    counts = Counter(word for line in lines for word in [*line.split(), "</s>"])
    total = sum(counts.values())
    return math.exp(-sum(count * math.log(count / total) for count in counts.values()) / total)


def test_scores_that_are_published_tell_the_line(tmp_path, capsys):
    told = [attack(trained(tmp_path, line, public=True)) == line for line in SECRETS[:3]]
    assert sum(told) == 3  # as if private lines were public: every guess is right


def test_our_card_has_no_score_of_private_lines(tmp_path, capsys):
    files = trained(tmp_path, SECRETS[0], public=False)
    assert attack(files) is None and "perplexity" not in "".join(files.values())
    assert "scores stay with the owner" in files["PRIVACY_CARD.md"]


@pytest.mark.parametrize("public", [True, False])
def test_only_public_examples_may_tell_when_to_stop(tmp_path, capsys, public):
    (tmp_path / "data.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / "train.yaml").write_text(json.dumps({"z0": 1.0, "patience": 2, "validation_is_public": public}))
    order = [
        "train",
        "--data",
        str(tmp_path / "data.jsonl"),
        "--config",
        str(tmp_path / "train.yaml"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(order) != 0
    assert ("when to stop would be told by private examples" in capsys.readouterr().err) is not public
