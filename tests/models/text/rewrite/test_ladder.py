"""The theorem of the ladder, tried on every outcome of a walk down it: what a speaker changes, computed exactly."""

import itertools
import math

import pytest

from sottovoce.models.text.replace.private_counts import CountSettings, threshold_of
from sottovoce.models.text.rewrite.ladder import counts_of

LADDER = {"full": 2.0, "parts": 1.0, "skeleton": 1.0}
EPSILON, DELTA = 2.0, 1e-3


def below(settings: CountSettings, at: float) -> float:
    """The chance that the noise is below `at`: an exponential of rate e above zero, of rate s below."""
    e = settings.epsilon / settings.values_per_speaker
    s = (settings.epsilon if settings.silence is None else settings.silence) / settings.values_per_speaker
    return e / (e + s) * math.exp(s * at) if at < 0 else 1 - s / (e + s) * math.exp(-e * at)


def outcomes(settings: CountSettings, count: int) -> list[float]:
    """Silence, then what is released in steps of a half: fine enough to tell a count from the next."""
    first = threshold_of(settings)
    if count == 0:
        return [1.0] + [0.0] * 120
    edges = [first + n / 2 for n in range(120)]
    chances = [below(settings, edge - count) for edge in edges]
    return [chances[0], *(high - low for low, high in itertools.pairwise(chances)), 1 - chances[-1]]


def walk(counts: list[CountSettings], others: tuple[int, ...], with_her: bool) -> list[float]:
    """One utterance goes down the ladder: on each count `others` add what she adds. Chances of all that can be released."""
    if not counts:
        return [1.0]
    silent, *released = outcomes(counts[0], others[0] + with_her)
    # Where hers is released she takes no part below; where it is not, the walk goes on. The others' part is the same.
    after = [walk(counts[1:], others[1:], here) for here in (False, with_her)]
    return [chance * rest for chance in released for rest in after[0]] + [silent * rest for rest in after[1]]


def excess(counts: list[CountSettings], others: tuple[int, ...], epsilon: float) -> float:
    """How much more likely than e^epsilon times some set of outcomes is, with her than without or the other way round."""
    one, other = walk(counts, others, True), walk(counts, others, False)
    step = math.exp(epsilon)
    return max(sum(max(0.0, p - step * q) for p, q in zip(*pair, strict=True)) for pair in ((one, other), (other, one)))


# counts of two rungs only: on a third the outcomes would be a million
TWO = {"full": 1.0, "skeleton": 1.0}
OTHERS = list(itertools.product((0, 1, 3, 5, 8, 14), repeat=2))


@pytest.mark.parametrize("others", OTHERS)
def test_a_walk_down_the_ladder_costs_one_epsilon(others):
    counts = [count.settings for count in counts_of(TWO, tuple(TWO), EPSILON, DELTA, 1, "laplace")]
    assert excess(counts, others, EPSILON) <= DELTA * (1 + 1e-9)


def test_the_same_with_symmetric_noise_costs_more():
    """The law bites: two rungs that each spend the whole epsilon on silence as well are beyond it."""
    weak = [CountSettings(EPSILON, DELTA / 2, "laplace", 1) for _ in TWO]
    assert max(excess(weak, others, EPSILON) for others in OTHERS) > 10 * DELTA


def test_so_does_an_utterance_that_goes_on_after_it_was_released(monkeypatch):
    monkeypatch.setitem(globals(), "walk", _walks_on)
    counts = [count.settings for count in counts_of(TWO, tuple(TWO), EPSILON, DELTA, 1, "laplace")]
    assert max(excess(counts, others, EPSILON) for others in OTHERS) > 10 * DELTA


def _walks_on(counts: list[CountSettings], others: tuple[int, ...], with_her: bool) -> list[float]:
    if not counts:
        return [1.0]
    rest = _walks_on(counts[1:], others[1:], with_her)
    return [chance * after for chance in outcomes(counts[0], others[0] + with_her) for after in rest]


def test_another_utterance_in_place_of_one_costs_more_than_a_speaker():
    """Why the ledger has a figure of the speaker alone: who takes back an utterance is counted with another, if they have one."""
    (count,) = counts_of({"full": 1.0}, ("full",), EPSILON, DELTA, 1, "laplace")
    silent, more_silent = (outcomes(count.settings, others)[0] for others in (4, 5))
    gone, here = (
        (1 - silent) * more_silent,
        (1 - more_silent) * silent,
    )  # of hers only the second is released, or only the first
    assert here > math.exp(1.3 * EPSILON) * gone + DELTA


@pytest.mark.parametrize("limit", [1, 4, 20])
def test_shares_divide_delta_and_silence_and_no_rung_divides_epsilon(limit):
    counts = counts_of(LADDER, tuple(LADDER), 4.0, 1e-6, limit, "laplace")
    assert sum(count.settings.silence for count in counts) == pytest.approx(4.0)
    assert sum(count.settings.delta for count in counts) == pytest.approx(1e-6)
    for count in counts:
        alone = 1 - below(count.settings, threshold_of(count.settings) - 1)
        assert alone == pytest.approx(count.settings.delta / limit, rel=1e-6)


def test_a_second_rung_hardly_raises_the_threshold():
    alone, both = (counts_of(ladder, tuple(ladder), 4.0, 1e-6, 1, "laplace") for ladder in ({"full": 1.0}, TWO))
    assert threshold_of(both[0].settings) < threshold_of(alone[0].settings) + 0.1
