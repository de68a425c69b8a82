"""From measured rows to the table of `sottovoce evaluate voice`: what attackers reach, and what the speech is worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.models.evaluation.attacks.speaker_linkage import Attack, Design, Recordings, attacks, ranks
from sottovoce.models.evaluation.metrics.linkability import linkability
from sottovoce.models.evaluation.metrics.verification import Estimate, eer, over_speakers, verification
from sottovoce.models.evaluation.metrics.word_errors import WordErrors
from sottovoce.models.evaluation.voice_row import MeasuredSpeech, VoiceRow

TOP = 5


@dataclass(frozen=True)
class AttackResult:
    """The best score of one attacker with one encoder: the EER with its interval over speakers, and other figures."""

    encoder: str
    attack: Attack
    eer: Estimate
    cllr_min: float
    d_sys: float
    top_1: float
    top_5: float
    compared: float  # enrolled speakers among whom a rank is found

    def to_json(self) -> dict[str, Any]:
        """The row for the results file: the EER as a share of 1, its 95 % interval as [low, high]."""
        return {
            "encoder": self.encoder,
            "attacker": self.attack.attacker,
            "score": self.attack.score,
            "utterances": self.attack.together,
            "eer": self.eer.value,
            "eer_interval": [self.eer.low, self.eer.high],
            "cllr_min": self.cllr_min,
            "d_sys": self.d_sys,
            "top_1": self.top_1,
            "top_5": self.top_5,
            "speakers_compared": self.compared,
        }


def attack_results(rows: Sequence[VoiceRow], encoders: Sequence[str], design: Design) -> list[AttackResult]:
    """For each encoder, attacker and number of utterances the score with the lowest EER."""
    results = []
    for encoder in encoders:
        results += best_of(encoder, attacks(recordings_of(rows, encoder), design))
    return results


def recordings_of(rows: Sequence[VoiceRow], encoder: str) -> Recordings:
    """By one encoder, before and after, in the order of the rows; pools only where speakers differ in them."""
    pool = np.array([row.pool for row in rows])
    return Recordings(
        np.array([row.speaker for row in rows]),
        np.array([row.before.embeddings[encoder] for row in rows]),
        np.array([row.after.embeddings[encoder] for row in rows]),
        np.array([row.enrolment for row in rows]),
        pool if len(np.unique(pool)) > 1 else None,
    )


def best_of(encoder: str, tried: Iterable[Attack]) -> list[AttackResult]:
    """The score with the lowest EER of each attacker and number of utterances."""
    best: dict[tuple[str, int], tuple[float, Attack]] = {}
    for attack in tried:
        mated, non_mated = pairs(attack.scores)
        if not len(mated) or not len(non_mated):
            continue  # nobody has as many test utterances as are to be averaged
        rate = eer(mated, non_mated)
        name = (attack.attacker, attack.together)
        if name not in best or rate < best[name][0]:
            best[name] = (rate, attack)
    return [_result(encoder, attack) for _, attack in best.values()]


def pairs(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores of mated and of non-mated trials, without those that are absent."""
    own = np.eye(len(scores), dtype=bool)
    mated, non_mated = scores[own].ravel(), scores[~own].ravel()
    return mated[~np.isnan(mated)], non_mated[~np.isnan(non_mated)]


def _result(encoder: str, attack: Attack) -> AttackResult:
    mated, non_mated = pairs(attack.scores)
    places = ranks(attack.scores)
    compared = (~np.isnan(attack.scores)).sum(axis=0)
    return AttackResult(
        encoder,
        attack,
        over_speakers(attack.scores, eer, repeats=100),
        verification(mated, non_mated).cllr_min,
        linkability(mated, non_mated),
        float(np.mean(places <= 1)),
        float(np.mean(places <= TOP)),
        float(compared[compared > 0].mean()),
    )


def worst(results: Sequence[AttackResult], together: int) -> AttackResult | None:
    """The result with the lowest EER, the worst for the speakers; None where none is of so many utterances together."""
    tried = [result for result in results if result.attack.together == together]
    return min(tried, key=lambda result: result.eer.value) if tried else None


def utility(rows: Sequence[VoiceRow]) -> dict[str, Any]:
    """What is left of the speech, before and after where both exist."""
    listened = [row for row in rows if row.before.word_errors or row.before.naturalness]
    figures: dict[str, Any] = {}
    # originals may come from an earlier study that listened with others
    for name in _known_to_both(listened, "word_errors"):
        before, after = (_rate(heard, name) for heard in _sides(listened))
        ratio = after / before if before else float("nan")
        figures[f"WER by {name}"] = {"before": before, "after": after, "ratio": ratio}
    for name in _known_to_both(listened, "naturalness"):
        before, after = (float(np.mean([h.naturalness[name] for h in heard])) for heard in _sides(listened))
        figures[name] = {"before": before, "after": after, "difference": after - before}
    correlations = [row.f0_correlation for row in rows if row.f0_correlation is not None]
    figures["F0 correlation"] = {"mean": float(np.mean(correlations)) if correlations else float("nan")}
    stretch = np.array([row.after.duration_s / row.before.duration_s for row in rows])
    figures["duration after / before"] = {
        "mean": float(stretch.mean()),
        "5 %": float(np.quantile(stretch, 0.05)),
        "95 %": float(np.quantile(stretch, 0.95)),
    }
    audio_s = sum(row.before.duration_s for row in rows)
    figures["real-time factor of the voice"] = {"mean": sum(row.voice_s for row in rows) / audio_s}
    figures["utterances"] = {"all": len(rows), "listened to": len(listened)}
    return figures


def _known_to_both(listened: Sequence[VoiceRow], figure: str) -> list[str]:
    heard = [getattr(side, figure) for row in listened[:1] for side in (row.before, row.after)]
    return [name for name in heard[0] if name in heard[1]] if heard else []


def _sides(rows: Sequence[VoiceRow]) -> tuple[list[MeasuredSpeech], list[MeasuredSpeech]]:
    return [row.before for row in rows], [row.after for row in rows]


def _rate(heard: Sequence[MeasuredSpeech], name: str) -> float:
    return sum((WordErrors(*h.word_errors[name]) for h in heard), WordErrors(0, 0)).rate


def table(results: Sequence[AttackResult]) -> str:
    """Plain text, a line for each result; EER with its interval in %, ranks as shares of 1."""
    header = f"{'encoder':<10} {'attacker':<14} {'utt.':>4}  {'EER %':>6} {'95 %':>14}  {'Cllr_min':>8} {'D_sys':>6} "
    lines = [header + f"{'top-1':>6} {'top-5':>6} {'of':>5}  score"]
    for result in results:
        attack, rate = result.attack, result.eer
        between = f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"
        lines.append(
            f"{result.encoder:<10} {attack.attacker:<14} {attack.together:>4}  {100 * rate.value:>6.1f} {between:>14}  "
            f"{result.cllr_min:>8.3f} {result.d_sys:>6.3f} {result.top_1:>6.2f} {result.top_5:>6.2f} "
            f"{result.compared:>5.0f}  {attack.score}"
        )
    return "\n".join(lines)
