"""A random sample of what the default detector misses and of what it hits in vain, to be read and judged.

    python tools/draw_errors.py fr-FR.jsonl.gz it-IT.jsonl.gz --split test --each 60 > drawn.tsv
    python tools/draw_errors.py fr-FR.jsonl.gz --consistency
    python tools/draw_errors.py --judged docs/figures/judged_errors.tsv

A line has the locale, whether the word was missed or hit in vain, the gold's type, the sentence with the word in guillemets,
and how often the same word, in small letters, is inside and outside a sensitive value in the training split. `--consistency`
says it of all words together. `--judged` counts a file of such lines with a judgement before them.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from sottovoce.models.records import Span
from sottovoce.models.settings import read_spec
from sottovoce.models.text.detect import ENGLISH
from sottovoce.models.text.detect.builder.corpora import MIXED, OUTSIDE, TaggedExample, corpus_name, read_examples
from sottovoce.models.text.detect.coverage import signs, wilson
from sottovoce.models.text.language import detect_in

SEED = 0
MISSED, VAIN = "missed", "in vain"


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--split", default="test", metavar="NAME")
    parser.add_argument("--each", type=int, default=60, metavar="N", help="words of either kind (60)")
    parser.add_argument(
        "--consistency", action="store_true", help="how often the gold of the training split contradicts itself"
    )
    parser.add_argument("--judged", type=Path, metavar="FILE", help="count the judgements of a file")
    args = parser.parse_args(given)
    if args.judged:
        show_judged(args.judged)
    for path in args.data:
        examples = list(read_examples(path))
        learnt = counted(example for example in examples if example.split == "train")
        if args.consistency:
            show_consistency(corpus_name(path), learnt)
            continue
        for error, gold, sentence, word in drawn([e for e in examples if e.split == args.split], args.each):
            inside, outside = learnt[word.lower()]
            print(corpus_name(path), error, gold, sentence, inside, outside, sep="\t")
    return 0


def counted(examples: Iterator[TaggedExample]) -> dict[str, list[int]]:
    """{word: [times inside a sensitive value, times outside]}; words whose slot is mixed count for neither."""
    times: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for example in examples:
        for token, label in zip(example.tokens, example.labels, strict=True):
            if label != MIXED:
                times[token.lower()][label == OUTSIDE] += 1
    return times


def drawn(examples: Sequence[TaggedExample], each: int) -> Iterator[tuple[str, str, str, str]]:
    """(error, gold, sentence, word), `each` of either kind, by a fixed seed."""
    detector = read_spec("detect", "default").make()
    detector.setup()
    found: dict[str, list[tuple[str, str, str, str]]] = {MISSED: [], VAIN: []}
    for example in examples:
        ((spans),) = detect_in(detector, example.language or ENGLISH, [example.text])
        for row in errors(example, spans):
            found[row[0]].append(row)
    for rows in found.values():
        yield from random.Random(SEED).sample(rows, min(each, len(rows)))


def errors(example: TaggedExample, spans: Sequence[Span]) -> Iterator[tuple[str, str, str, str]]:
    """The words of one utterance that were missed or hit in vain, counted as `sottovoce evaluate detect` counts them."""
    text, begin = example.text, 0
    hit = [False] * len(text)
    for span in spans:
        hit[span.begin : span.end] = [True] * (span.end - span.begin)
    for token, label in zip(example.tokens, example.labels, strict=True):
        places = signs(text, begin, token)
        shown = f"{text[:begin]}«{token}»{text[begin + len(token) :]}"
        begin += len(token) + 1
        kind = label.partition("-")[2]
        if places and kind and not all(hit[at] for at in places):
            yield MISSED, kind, shown, token
        elif places and not kind and any(hit[at] for at in places):
            yield VAIN, label, shown, token


def show_consistency(name: str, times: dict[str, list[int]]) -> None:
    """Of the sensitive words of forms that training data has five times or more, those whose form is torn between both."""
    often = [(inside, outside) for inside, outside in times.values() if inside and inside + outside >= 5]
    torn = [(inside, outside) for inside, outside in often if 0.3 <= inside / (inside + outside) <= 0.7]
    of, both = sum(inside for inside, _ in often), sum(inside for inside, _ in torn)
    least = sum(min(pair) for pair in often)
    print(
        f"{name}: of {of:,} sensitive words in training data, {100 * both / of:.1f} % are of a form that is inside three to "
        f"seven times in ten; who knew the form alone would get {least:,} words wrong"
    )


def show_judged(path: Path) -> None:
    """Shares of the judgements of each kind of error, by locale and together."""
    times: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        judgement, locale, error = line.split("\t")[:3]
        if judgement != "judgement":
            times[locale, error][judgement] += 1
            if "-" in locale:
                times["all locales", error][judgement] += 1
    for (locale, error), counts in sorted(times.items(), key=lambda item: (item[0][1], item[0][0])):
        total = counts.total()
        shares = (
            f"{name} {n} ({100 * n / total:.0f} %, {100 * wilson(n, total)[0]:.0f} to {100 * wilson(n, total)[1]:.0f})"
            for name, n in counts.most_common()
        )
        print(f"{error}, {locale}, {total}: {'; '.join(shares)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
