"""What aligning and listening again share of pocketsphinx: its decoder with the English model that its package carries.

How well a stretch of speech fits what it is claimed to say is told against a free loop over all phones, which finds
whatever fits best: the log likelihood ratio per frame. The decoder's own word posteriors do not tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sottovoce.models.speech.audio import Speech, resample

RATE_HZ, FRAMES_PER_S = 16_000, 100
NATS = 1024 * np.log(1.0001)  # the decoder counts in units of 2^10 times log 1.0001
PHONES = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
LOOP = "loop"
TELEPHONE_HZ, EMPTY_SHARE, MIRRORED = 4400, 1e-6, 0.15


def new_decoder(dictionary: bool, beam: float, word_beam: float, model: str | None = None) -> Any:
    """A decoder that also knows the search `LOOP`. `model`: a folder; without it, the one that the package carries.

    No lattice: it breaks an alignment pass on half of the utterances.
    """
    import pocketsphinx

    decoder = pocketsphinx.Decoder(
        hmm=model or pocketsphinx.get_model_path("en-us/en-us"),
        dict=pocketsphinx.get_model_path("en-us/cmudict-en-us.dict") if dictionary else None,
        lm=None,
        beam=beam,
        wbeam=word_beam,
        pbeam=beam,
        bestpath=False,
        loglevel="FATAL",
    )
    decoder.add_allphone_file(LOOP, None)
    return decoder


def pcm_of(speech: Speech) -> bytes:
    """What the decoder takes: 16-bit samples at RATE_HZ; speech of a telephone is mirrored above 4 kHz first."""
    samples = _widened(resample(speech, RATE_HZ).samples.astype(np.float64))
    return np.clip(np.round(samples * 32767), -32768, 32767).astype(np.int16).tobytes()


def _widened(samples: np.ndarray) -> np.ndarray:
    """Speech of a telephone gets its own mirror image above 4 kHz: the model has never met a band without any energy."""
    if not len(samples):
        return samples
    power = np.square(np.abs(np.fft.rfft(samples)))
    above = int(len(power) * TELEPHONE_HZ / (RATE_HZ / 2))
    if power[above:].sum() > EMPTY_SHARE * power.sum():
        return samples
    mirrored = samples.copy()
    mirrored[1::2] *= -1  # what was at f is now at 8 kHz - f
    return samples + MIRRORED * mirrored


def decode(decoder: Any, search: str | None, pcm: bytes) -> None:
    """One utterance from begin to end; the decoder then holds the result. `search` by its name, None: the one that is set."""
    # The noise tracker remembers the last utterance: without this the result would depend on the order of the corpus.
    decoder.reinit_feat()
    if search:
        decoder.activate_search(search)
    decoder.start_utt()
    decoder.process_raw(pcm, full_utt=True)
    decoder.end_utt()


def segments(decoder: Any) -> list[tuple[str, int, int, float]]:
    """(name, begin, end, score) of what was decoded, in frames [begin, end)."""
    logarithm = decoder.get_logmath().log
    return [(s.word, s.start_frame, s.end_frame + 1, logarithm(s.ascore)) for s in decoder.seg()]


def free_scores(decoder: Any, pcm: bytes) -> np.ndarray:
    """The free loop's score of each frame."""
    decode(decoder, LOOP, pcm)
    found = segments(decoder)
    scores = np.zeros(max((end for _, _, end, _ in found), default=0))
    for _, begin, end, score in found:
        scores[begin:end] = score / (end - begin)
    return scores
