"""The one text chain: find the sensitive spans, replace them, move the slots along. Whoever handles a text calls these functions.

Each takes a member and utterances and gives new ones, or raises a Refusal: the stages of the graph, the Python interface and
a line in a REPL do the same to the same utterance.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence

from sottovoce.models.randomness import Secret
from sottovoce.models.records import Span, Utterance
from sottovoce.models.settings import Spec
from sottovoce.models.text.detect import ENGLISH, Detector
from sottovoce.models.text.edits import apply_edits
from sottovoce.models.text.language import code_of, detect_in
from sottovoce.models.text.replace import Strategy


def detected(detector: Detector, utterances: Sequence[Utterance]) -> list[Utterance]:
    """With the spans that the detector finds, each in the language of its own; one that does not say is taken for English."""
    codes = [code_of(utterance.language or ENGLISH) for utterance in utterances]
    found: list[list[Span]] = [[] for _ in utterances]
    for code in sorted(set(codes)):
        own = [at for at, one in enumerate(codes) if one == code]
        for at, spans in zip(own, detect_in(detector, code, [utterances[at].text for at in own]), strict=True):
            found[at] = spans
    return [
        dataclasses.replace(utterance, spans=tuple(spans)) for utterance, spans in zip(utterances, found, strict=True)
    ]


def replaced(strategy: Strategy, utterance: Utterance, draws: Secret) -> Utterance:
    """With the new text and slots; its spans are gone, since they refer to the old text."""
    edits = strategy.replace(utterance, draws)
    text, slots = apply_edits(utterance.text, edits, utterance.slots)
    return dataclasses.replace(utterance, text=text, slots=tuple(slots), spans=())


def draws_of(secret: Secret, strategy: Spec, lists: Mapping[str, Mapping[str, float]] | None = None) -> Secret:
    """The key of one mechanism: the strategy with its settings, and the lists of the corpus that it draws from.

    The same mechanism repeats its draws and tells nothing new. Another one must not share them: a unit that is kept by two
    mechanisms is equal in both texts, and one that is replaced is not, so that both together would tell which words are
    true. With draws of its own a second mechanism costs what it costs, and the epsilons add up.
    """
    return Secret(secret.digest("replace", repr(strategy), json.dumps(lists, sort_keys=True)))


def without_coin(strategy: Spec) -> Spec:
    """The same strategy, which replaces every unit."""
    kept = tuple(option for option in strategy.options if option[0] not in ("p", "target_epsilon", "p_mode"))
    return Spec(strategy.family, strategy.name, kept)
