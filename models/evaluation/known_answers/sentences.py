"""Sentences in voice-assistant language with sensitive words in known places, for measuring. Every person is invented."""

from __future__ import annotations

import random
from collections.abc import Iterator

TEMPLATES = (
    "please call {first} {last} on the mobile",
    "send a message to {first} that i will be late",
    "what is the weather in {place} this weekend",
    "my name is {first} {last} and i live in {place}",
    "book a table for {first} at the restaurant near {place}",
    "remind me to pick up {first} from school at {hour}",
    "play the new album by {first} {last}",
    "how long does it take to drive from {place} to {place}",
    "transfer {number} dollars to the account of {last}",
    "my number is {digits} please call me back",
    "set an alarm for {hour} tomorrow morning",
    "read me the last email from {last}",
    "is doctor {last} free on friday at {hour}",
    "add {first} {last} to my contacts",
    "order flowers for {first} and send them to {place}",
    "the booking is under {last} for two nights in {place}",
)
WORDS = {
    "{first}": "john maria siobhan wei anna rajesh olga peter fatima lucas ingrid kwame sofia dmitri yuki carlos amelia "
    "tomasz priya hannah omar elena patrick nadia george amara",
    "{last}": "smith okafor kowalski nguyen fernandez johnson schneider rossi papadopoulos haddad lindqvist obrien "
    "yamamoto novak petrov campbell iyer delgado kamau taylor zielinski baker",
    "{place}": "paris nairobi reykjavik boston leeds osaka lisbon krakow denver galway toulouse austin bergen seville",
    "{digits}": "zero one two three four five six seven eight nine",
}
PHRASES = {
    "{hour}": ("seven thirty", "six fifteen", "nine o'clock", "half past ten", "eleven", "two"),
    "{number}": ("twenty", "three hundred", "fifty five", "two thousand", "ninety"),
}


def sentences(count: int, seed: int) -> Iterator[tuple[list[str], frozenset[int]]]:
    """(words, indices of the sensitive ones), each sentence with at least one sensitive word."""
    rng = random.Random(seed)
    made = 0
    while made < count:
        words: list[str] = []
        sensitive: set[int] = set()
        for token in rng.choice(TEMPLATES).split():
            filled = _filled(token, rng)
            if token in WORDS:
                sensitive |= set(range(len(words), len(words) + len(filled)))
            words += filled
        if sensitive:
            made += 1
            yield words, frozenset(sensitive)


def _filled(token: str, rng: random.Random) -> list[str]:
    if token in PHRASES:
        return rng.choice(PHRASES[token]).split()
    if token not in WORDS:
        return [token]
    return rng.choices(WORDS[token].split(), k=7 if token == "{digits}" else 1)
