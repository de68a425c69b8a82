"""Neural conversion with SpeechT5 and HiFi-GAN from transformers, by hub name or path, in the voice of a pseudo-speaker.

Ao et al., "SpeechT5: unified-modal encoder-decoder pre-training for spoken language processing", ACL 2022: the voice
conversion model hears the source and speaks in the voice of an x-vector. Here that x-vector is a mix of a pool's. The
decoder speaks in its own time, so words found before it no longer fit: align afterwards (`audio.align_on: anonymised`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from sottovoce.models.errors import Refusal, RunError
from sottovoce.models.ledger.entries import LedgerEntry
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Utterance, Word
from sottovoce.models.settings import Spec, read_spec, require
from sottovoce.models.speech.audio import Speech, level, resample, with_level
from sottovoce.models.speech.speakers.plda import unit
from sottovoce.models.speech.voice import BACKGROUND_VOICES, Slices, TakesBatches, Voiced
from sottovoce.models.speech.voice import pool as pools
from sottovoce.models.speech.voice.pseudo_speaker import PseudoSpeakerOptions, PseudoSpeakers, draw_key

RATE_HZ = 16_000
SHORTEST, LONGEST = 0.4, 2.5  # of the source's length, in the decoder's units: beyond, it did not find the end


class TimeNotKept(Refusal):
    code = "voice_does_not_keep_time"
    allowed = "speech that was not aligned yet: set audio.align_on to anonymised"


@dataclass(frozen=True)
class SpeechT5(PseudoSpeakerOptions, TakesBatches):
    """`pool` is a folder of `sottovoce build voice` whose embeddings are x-vectors of `encoder`, as the model expects.

    `encoder` ("hf:NAME" or another row of the speaker encoders) is used for proximity near and far only.
    """

    model: str = "microsoft/speecht5_vc"
    vocoder: str = "microsoft/speecht5_hifigan"
    pool: str | None = None
    encoder: str = "hf:microsoft/wavlm-base-plus-sv"
    device: str = "cpu"
    _parts: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        require((bool(self.model) and bool(self.vocoder), "model, vocoder: give hub names or paths"))

    def setup(self) -> None:
        from transformers import SpeechT5FeatureExtractor, SpeechT5ForSpeechToSpeech, SpeechT5HifiGan

        try:
            model = SpeechT5ForSpeechToSpeech.from_pretrained(self.model).to(self.device).eval()
            vocoder = SpeechT5HifiGan.from_pretrained(self.vocoder).to(self.device).eval()
            features = SpeechT5FeatureExtractor.from_pretrained(self.model)
        except (OSError, ValueError):
            raise RunError(
                f"voice: {self.model} or {self.vocoder} could not be loaded; give the hub name or the folder of a "
                "SpeechT5ForSpeechToSpeech model with its feature extractor, and of a SpeechT5HifiGan"
            ) from None
        pool = pools.load(self.pool)
        expected = model.config.speaker_embedding_dim
        if pool.embedding.shape[1] != expected:
            raise RunError(
                f"voice: the pool's embeddings have {pool.embedding.shape[1]} dimensions and the model takes {expected}; "
                "build a pool with the x-vector model that this model was trained with"
            )
        self._parts.update(model=model, vocoder=vocoder, features=features, pool=pool)
        self._parts["pseudo_speakers"] = PseudoSpeakers(self, pool)
        if self.needs_source_embedding:
            encoder: Spec = read_spec("speakers", self.encoder)
            self._parts["encoder"] = encoder.make()
            self._parts["encoder"].setup()

    def transform(
        self, utterance: Utterance, speech: Speech, words: Sequence[Word], secret: Secret, slices: Slices | None = None
    ) -> Voiced:
        return self.transform_many([(utterance, speech, words)], secret)[0]

    def transform_many(self, items: Sequence[tuple[Utterance, Speech, Sequence[Word]]], secret: Secret) -> list[Voiced]:
        """One pass of the networks for all items."""
        import torch

        if any(words for _, _, words in items):
            raise TimeNotKept
        sounds = [resample(speech, RATE_HZ) for _, speech, _ in items]
        targets = np.stack([self._target(item[0], sound, secret) for item, sound in zip(items, sounds, strict=True)])
        inputs = self._parts["features"](
            audio=[sound.samples for sound in sounds], sampling_rate=RATE_HZ, return_tensors="pt", padding=True
        )
        with torch.inference_mode(), torch.random.fork_rng():
            # The decoder's first layers drop units also when it speaks. Their draws depend on the run alone: the same
            # utterance comes out the same in another batch, and the target, not these draws, hides the speaker.
            torch.manual_seed(int.from_bytes(secret.digest("voice.speecht5")[:8], "big") >> 1)
            waves, lengths = self._parts["model"].generate_speech(
                inputs["input_values"].to(self.device),
                torch.from_numpy(targets).to(self.device),
                attention_mask=inputs["attention_mask"].to(self.device),
                minlenratio=SHORTEST,
                maxlenratio=LONGEST,
                vocoder=self._parts["vocoder"],
                return_output_lengths=True,
            )
        waves = waves.reshape(len(items), -1).float().cpu().numpy()
        return [
            Voiced(_finished(wave[: int(length)], sound), ())
            for wave, length, sound in zip(waves, lengths, sounds, strict=True)
        ]

    def _target(self, utterance: Utterance, speech: Speech, secret: Secret) -> np.ndarray:
        """The x-vector of the pseudo-speaker, at length 1, as the model was trained with."""
        source = self._parts["encoder"].embed(speech) if self.needs_source_embedding else None
        weights = self._parts["pseudo_speakers"].draw(
            secret, draw_key(utterance, self.assign), source, utterance.gender
        )
        return unit(weights @ unit(self._parts["pool"].embedding)).astype(np.float32)

    def ledger(self) -> LedgerEntry:
        return LedgerEntry(
            stage="voice",
            mechanism="speecht5",
            says="A neural network says the speech again in the voice of a mix of pool speakers drawn with the run's secret",
            not_protected=(
                "what the network lets through of the source's voice and prosody: it was trained to change voices, not to "
                "hide them. Nobody has measured it here; `sottovoce evaluate voice` does",
                BACKGROUND_VOICES,
                "accent and choice of words",
                "words that the network says wrongly or leaves out go unnoticed but for the aligner's check",
            ),
            parameters={f.name: getattr(self, f.name) for f in fields(self) if f.init},
        )


def _finished(samples: np.ndarray, source: Speech) -> Speech:
    peak = max(float(np.max(np.abs(samples), initial=0.0)), 1e-9)
    return with_level(Speech((samples / peak).astype(np.float32), RATE_HZ), level(source.samples))
