"""Sentences, labels and models small enough to train in a second."""

import json
import random

from sottovoce.models.records import Source
from sottovoce.models.training.batches import encode
from sottovoce.models.training.bert import Bert
from sottovoce.models.training.clc import Clc
from sottovoce.models.training.examples import Example, labels_of

TINY = {
    "clc": Clc(hidden=8, word_size=8, buckets=64, filters=4, character_size=4),
    "bert": Bert(layers=2, hidden=16, heads=2, feed_forward=24, buckets=64, dropout=0.0),
}
INTENTS = {"play": "artist", "book": "city", "wake": "time"}
VALUES = {"artist": ["abba", "nick cave", "sade"], "city": ["rome", "new york", "oslo"], "time": ["noon", "six thirty"]}


def sentences(count, seed=0, speakers=0):
    """Rows as the reader finds them: an intent told by its first word, and one slot."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        intent = draw.choice(sorted(INTENTS))
        slot = INTENTS[intent]
        before = draw.sample(["please", "now", "me", "the", "a"], draw.randint(0, 3))
        value = draw.choice(VALUES[slot]).split()
        row = {
            "tokens": [intent, *before, *value],
            "tags": ["O"] * (1 + len(before)) + [f"{'BI'[i > 0]}-{slot}" for i in range(len(value))],
            "intent": intent,
        }
        rows.append(row | ({"speaker": f"s{number % speakers}"} if speakers else {}))
    return rows


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def tiny(name, count=12, seed=0):
    """(network, encoded rows, labels) of a tiny model."""
    rows = sentences(max(count, 40), seed)
    every = [Example(tuple(r["tokens"]), tuple(r["tags"]), r["intent"], Source("tiny", 1)) for r in rows]
    labels = labels_of(every)
    return TINY[name].network(labels), encode(every[:count], TINY[name].encoder(), labels), labels
