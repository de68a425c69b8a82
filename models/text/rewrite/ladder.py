"""The counts of a ladder, one after the other, and what all of them cost a speaker together.

An utterance goes down the ladder: it is counted on the first count; where what it adds there is not released, on the second, and
so on. Released once, it is counted no more. So a speaker gives away each utterance at most once, and need not pay for every
count as if it were the only one.

Theorem. Let a speaker bring at most K utterances. Let count r have Laplace noise of rates e = epsilon / K above zero and
s_r = silence_r / K below, a threshold that a count of 1 passes with probability delta_r / K, and let the silences add up to at
most epsilon and the deltas to delta, where epsilon >= 2 delta. Then all that is released is (epsilon, delta)-differentially
private for adding or removing a speaker.

Proof. Let P be the law of what is released without the speaker, Q with them. The noise of different counts is independent, and
given what was released so far, all others take part in the next count alike under both laws. So the ratio of Q to P at an
outcome is a product over what the speaker adds: on each count at most K different things, each of which others add c times
without them and c + 1 times with them. (1) Q over P. A thing that is not released has a ratio of at most 1, since the chance to
pass grows with the count. One that is released with c >= 1 has at most exp(e) (`private_counts.py`); and as an utterance is
counted no more once what it adds is released, at most K are released over all counts: exp(K e) = exp(epsilon). One that is
released with c = 0 cannot be under P; given what came before, the chance of any such on count r is at most K delta_r / K under
Q, so delta over all counts. (2) P over Q. A thing with c >= 1 has at most exp(s_r), released or not, and one with c = 0 is
not released under P: 1 / (1 - delta_r / K), which is below exp(s_r) as epsilon >= 2 delta. On count r there are at most
K: exp(K s_r). Over all counts exp(sum of silences), so at most exp(epsilon). QED.

That is why noise is not symmetric here: what makes silence cheap is a slow fall below zero, and every count keeps nearly the
threshold that it would have alone with the whole epsilon. Gaussian noise has no such bound of its ratio: there the shares
divide epsilon as well as delta, and the counts compose adaptively in the usual way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from sottovoce.models.text.replace.private_counts import CountSettings, threshold_of
from sottovoce.models.text.rewrite import Count

Noise = Literal["auto", "laplace", "gaussian"]


def counts_of(
    ladder: Mapping[str, float], order: Sequence[str], epsilon: float, delta: float, limit: int, noise: Noise
) -> list[Count]:
    """The counts that have a share, in their order. `auto` takes the noise with the lower thresholds: nothing of the data
    decides that."""
    if noise == "auto":
        kinds: tuple[Noise, Noise] = ("laplace", "gaussian")
        both = [counts_of(ladder, order, epsilon, delta, limit, kind) for kind in kinds]
        return min(both, key=lambda counts: sum(threshold_of(count.settings) for count in counts))
    total, found = sum(ladder.values()), []
    for name in order:
        if share := ladder.get(name, 0.0) / total:
            settings = (
                CountSettings(epsilon, share * delta, noise, limit, silence=share * epsilon)
                if noise == "laplace"
                else CountSettings(share * epsilon, share * delta, noise, limit)
            )
            found.append(Count(name, settings))
    return found
