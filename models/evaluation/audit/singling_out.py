"""Singling out: whoever knows a person from elsewhere picks out a record that is theirs.

The attacker has the release, and in clear what a person said on other occasions: an auxiliary source, or else half of the
person's own dialogues from the corpus, as they were said, which is more than an outsider is likely to have. It names the
record of the release that is most like all of that. The dialogues it knows are left out of what it searches: that who
knows a sentence finds it again is no finding. The control names any record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sottovoce.models.evaluation.audit import Criterion
from sottovoce.models.evaluation.audit.by_words import NO_PAIR, best_guess, by_sink, invented_release
from sottovoce.models.evaluation.audit.material import KnownText, Material, ReleasedText
from sottovoce.models.evaluation.audit.readers import TextReader
from sottovoce.models.evaluation.audit.trials import MIN_PEOPLE, NotApplicable, NotMeasurable, Outcome, Trials


class SinglingOut:
    """Singling out by words: the record nearest to what a person said elsewhere is claimed to be theirs."""

    criterion: ClassVar[Criterion] = "singling out"
    says = "has the release, and what a person said elsewhere in clear; picks out a record of theirs by its words"
    max_risk: ClassVar[float] = 0.2

    def outcomes(self, material: Material) -> dict[str, Outcome]:
        known = material.known
        if isinstance(known, NotMeasurable | NotApplicable):
            return {"all sinks": known}
        return by_sink(material, lambda texts: _picked_out(material.readers["tfidf"], texts, known))

    def leaks_nothing(self, rng: np.random.Generator) -> Material:
        return _with_known(invented_release(rng, own_words="nobody"))

    def leaks_by_design(self, rng: np.random.Generator) -> Material:
        return _with_known(invented_release(rng, own_words="person"))


def _picked_out(reader: TextReader, texts: list[ReleasedText], known: Sequence[KnownText]) -> Outcome:
    sources: dict[str, list[KnownText]] = {}
    for text in known:
        sources.setdefault(text.person, []).append(text)
    given = {text.dialogue for text in known if text.dialogue is not None}
    pool = [text for text in texts if text.dialogue not in given]
    owners = np.array([text.person for text in pool])
    wanted = sorted(set(owners) & set(sources))
    if not wanted and (given or not known):
        return NotApplicable(NO_PAIR)
    if len(wanted) < MIN_PEOPLE:  # a source of the attacker's own that knows nobody proves nothing
        return NotMeasurable(f"at least {MIN_PEOPLE} people who are known from elsewhere; there are {len(wanted)}")
    documents = [" ".join(text.text for text in sources[person]) for person in wanted]
    released = [text.text for text in pool]
    vectors = reader.read([*released, *documents])
    right = np.array(wanted)[:, None] == owners[None]
    scores = (vectors[len(released) :] @ vectors[: len(released)].T).toarray()
    return Trials(best_guess(scores, right, np.ones_like(right)), right.mean(axis=1), wanted)


def _with_known(release: Material) -> Material:
    assert not isinstance(release.texts, NotMeasurable | NotApplicable)
    halves = [text for text in release.texts if text.dialogue.endswith(("d0", "d1"))]
    return Material(
        release.texts, [KnownText(text.person, text.text, text.dialogue) for text in halves], sinks=release.sinks
    )
