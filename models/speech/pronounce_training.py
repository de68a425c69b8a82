"""Learns `pronounce.npz` from pocketsphinx' dictionary: python -m sottovoce.models.speech.pronounce_training

Joint-sequence model (Bisani and Ney, "Joint-sequence models for grapheme-to-phoneme conversion", Speech Communication
2008): each letter is paired with zero, one or two phones by Viterbi re-estimation; the pairs of a word are then a
sentence for an n-gram with absolute discounting. Prints the phone error rate on words that it did not learn from.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from sottovoce.models.speech.pronounce import END, MODEL_FILE, ORDER, START, Pronouncer, pack
from sottovoce.models.text.edit_distance import edit_distance

Pair = tuple[str, str]  # a letter and its phones, "" to "K S"
DISCOUNT = 0.7
MIN_COUNT = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2}
HELD_OUT = 2000


def dictionary() -> dict[str, list[str]]:
    """Word -> its pronunciations, for words of letters and apostrophes."""
    import pocketsphinx

    words: dict[str, list[str]] = defaultdict(list)
    for line in Path(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict")).read_text().splitlines():
        written, _, phones = line.partition(" ")
        word = re.sub(r"\(\d+\)$", "", written)
        if re.fullmatch(r"[a-z][a-z']+", word):
            words[word].append(phones)
    return dict(words)


def main() -> None:
    """Writes the model, then prints how often it is wrong on the words that were held out."""
    began = time.time()
    entries = dictionary()
    names = sorted(entries)
    random.Random(0).shuffle(names)
    held_out, learned = names[:HELD_OUT], names[HELD_OUT:]
    samples = [(word, phones.split()) for word in learned for phones in entries[word]]
    costs = _learn_pairs(random.Random(1).sample(samples, 25_000))
    pairs = [found for word, phones in samples if (found := align_pairs(word, phones, costs))]
    np.savez_compressed(MODEL_FILE, **pack(_ngrams(pairs)))
    print(f"{len(pairs)} of {len(samples)} pronunciations paired, {MODEL_FILE.stat().st_size / 1e6:.2f} MB")
    wrong, total, whole, second = _errors(Pronouncer(), held_out, entries)
    print(
        f"{HELD_OUT} held-out words: phone error rate {wrong / total:.4f}, words wrong {1 - whole / HELD_OUT:.4f}, "
        f"wrong in both of two best {1 - second / HELD_OUT:.4f}; {time.time() - began:.0f} s"
    )


def align_pairs(word: str, phones: Sequence[str], costs: dict[Pair, float]) -> list[Pair] | None:
    """The cheapest way to hand out the phones to the letters, at most two each; None where there is none."""
    best: dict[int, tuple[float, list[Pair]]] = {0: (0.0, [])}
    for letter in word:
        following: dict[int, tuple[float, list[Pair]]] = {}
        for used, (cost, path) in best.items():
            for take in (0, 1, 2):
                pair = (letter, " ".join(phones[used : used + take]))
                reached = used + take
                if reached > len(phones):
                    break
                new = cost + costs.get(pair, 20.0)
                if reached not in following or new < following[reached][0]:
                    following[reached] = (new, [*path, pair])
        best = following
    return best[len(phones)][1] if len(phones) in best else None


def _learn_pairs(samples: Sequence[tuple[str, list[str]]]) -> dict[Pair, float]:
    """Costs -log p(letter, phones): first from phones that stand near the letter, then from the best pairings."""
    counts: Counter[Pair] = Counter()
    for word, phones in samples:
        for index, letter in enumerate(word):
            near = phones[max(0, round(index * len(phones) / len(word)) - 1) :][:3]
            counts.update((letter, phone) for phone in near)
            counts[(letter, "")] += 1
    costs = _costs(counts)
    for _ in range(6):
        counts = Counter()
        for word, phones in samples:
            counts.update(align_pairs(word, phones, costs) or [])
        costs = _costs(counts)
    return costs


def _costs(counts: Counter[Pair]) -> dict[Pair, float]:
    total = sum(counts.values())
    return {pair: -math.log(count / total) for pair, count in counts.items()}


def _ngrams(sentences: Iterable[list[Pair]]) -> dict[tuple[str, ...], tuple[float, float]]:
    """n-gram -> (log probability, log weight of backing off from it as a context)."""
    counts: dict[int, Counter[tuple[str, ...]]] = {order: Counter() for order in range(1, ORDER + 1)}
    for sentence in sentences:
        tokens = [START, *(f"{letter}:{phones}" for letter, phones in sentence), END]
        for order in counts:
            counts[order].update(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))
    for order in counts:
        counts[order] = Counter({key: n for key, n in counts[order].items() if n >= MIN_COUNT[order]})
    model: dict[tuple[str, ...], tuple[float, float]] = {}
    probability: dict[tuple[str, ...], float] = {}
    unigrams = sum(counts[1].values())
    for order in counts:
        totals: Counter[tuple[str, ...]] = Counter()
        kinds: Counter[tuple[str, ...]] = Counter()
        for key, count in counts[order].items():
            totals[key[:-1]] += count
            kinds[key[:-1]] += 1
        for key, count in counts[order].items():
            if order == 1:
                probability[key] = count / unigrams
                continue
            context = key[:-1]
            left_over = DISCOUNT * kinds[context] / totals[context]
            lower = probability.get(key[1:], 1e-9)
            probability[key] = (count - DISCOUNT) / totals[context] + left_over * lower
        for context in totals:
            if order > 1 and context in model:
                weight = math.log(DISCOUNT * kinds[context] / totals[context])
                model[context] = (model[context][0], weight)
        for key in counts[order]:
            model[key] = (math.log(probability[key]), 0.0)
    return model


def _errors(pronouncer: Pronouncer, words: Sequence[str], entries: dict[str, list[str]]) -> tuple[int, int, int, int]:
    """(phone errors, phones, words right at first, words right in the two best), against the nearest entry."""
    wrong = total = whole = second = 0
    for word in words:
        guesses = [guess.split() for guess in pronouncer.pronounce(word)]
        truths = [phones.split() for phones in entries[word]]
        distance, length = min((edit_distance(guesses[0], truth), len(truth)) for truth in truths)
        wrong, total, whole = wrong + distance, total + length, whole + (distance == 0)
        second += any(guess in truths for guess in guesses)
    return wrong, total, whole, second


if __name__ == "__main__":
    main()
