"""The project's own attacker gives, from the files of a challenge alone, the figures that it gives inside."""

import numpy as np
import pytest

from sottovoce.models.evaluation.attacks.speaker_linkage import Design, Recordings, attacks
from sottovoce.models.evaluation.audit.by_voice import by_voice
from sottovoce.models.evaluation.audit.trials import figures
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Source, Utterance
from sottovoce.models.speech.audio import Speech, to_flac
from sottovoce.pipelines.audit.challenge import judged, read_scores, split, write_challenge
from sottovoce.pipelines.audit.outsider import scores_from_files
from sottovoce.pipelines.audit.voices import Person

SECRET = Secret(b"k" * 32)


class Spectrum:
    """Hears the mean spectrum in eight bands."""

    def embed(self, speech: Speech) -> np.ndarray:
        return np.array([part.mean() for part in np.array_split(np.abs(np.fft.rfft(speech.samples[:3200])), 8)])


def spoken(person: int, number: int) -> Speech:
    draw = np.random.default_rng(person * 100 + number)
    tone = np.sin(2 * np.pi * (300 + 250 * person) * np.arange(3200) / 16_000)
    samples = (0.05 * tone + draw.normal(0, 0.05, 3200)).clip(-1, 1)
    return Speech((np.round(samples * 32767) / 32768).astype(np.float32), 16_000)


def people(count: int) -> list[Person]:
    return [
        Person(
            f"p{p}",
            [Utterance(f"{p} {n}", f"{p} {n}", 0, "said", Source("f", 1), str(p)) for n in range(3)],
            [{"id": f"{p * 100 + n:032x}", "audio": {"bytes": to_flac(spoken(p, 10 + n))}} for n in range(4)],
        )
        for p in range(count)
    ]


@pytest.mark.parametrize("score", ["cosine", "centred"])
def test_figures_from_files_alone_are_those_inside(score, tmp_path):
    everybody, hears = people(12), Spectrum()
    key = write_challenge(
        everybody, lambda u: spoken(*map(int, u.id.split())), SECRET, "run-1", tmp_path / "out"
    )  # fmt: skip
    found = scores_from_files(tmp_path / "out", hears, score)
    (tmp_path / "scores").write_text("".join(f"{who} {name} {value:.9g}\n" for (who, name), value in found.items()))
    outside, _ = judged(read_scores(str(tmp_path / "scores"), key), key)

    looked_for, _ = split(everybody)
    rows = [(p.name, True, hears.embed(spoken(*map(int, u.id.split())))) for p in looked_for for u in p.enrolled]
    numbers = {p.name: int(p.name[1:]) for p in looked_for}
    rows += [(p.name, False, hears.embed(spoken(numbers[p.name], 10 + n))) for p in looked_for for n in range(4)]
    names, vectors = np.array([row[0] for row in rows]), np.array([row[2] for row in rows])
    recordings = Recordings(names, vectors, vectors, np.array([row[1] for row in rows]))
    own = [a for a in attacks(recordings, Design(3, 10, (1,))) if (a.attacker, a.score) == ("ignorant", score)]
    inside = figures(by_voice(own[0]))
    assert (outside.trials, outside.people) == (inside.trials, inside.people) == (32, 8)
    assert outside.attack.value == pytest.approx(inside.attack.value) and inside.attack.value > 0.2
    assert outside.risk.value == pytest.approx(inside.risk.value)
