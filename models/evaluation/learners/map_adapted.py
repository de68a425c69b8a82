"""A ready recogniser brought nearer to the examples: MAP adaptation of pocketsphinx' English model with sphinxtrain.

Gauvain and Lee, "Maximum a posteriori estimation for multivariate Gaussian mixture observations", IEEE TSAP 1994. Only the
means move: moving all parameters made even original speech teach the wrong thing. The programs `bw` and `map_adapt` come
from Debian's sphinxtrain, features from `sphinx_fe`; none of them is linked, each is run as a program of its own.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.evaluation.learners import SpokenExample
from sottovoce.models.evaluation.learners.sphinx_model import write_definition, write_weights
from sottovoce.models.settings import require
from sottovoce.models.speech import sphinx
from sottovoce.models.speech.audio import Speech
from sottovoce.models.speech.lexicon import Lexicon

INSTALL = "apt-get install sphinxtrain sphinxbase-utils"
FRONT_END = ("-lowerf", "-upperf", "-nfilt", "-transform", "-lifter", "-remove_noise")
STREAMS = ("-feat", "-svspec", "-agc", "-cmn", "-varnorm")
KEPT = ("feat.params", "mdef", "noisedict", "sendump", "transition_matrices", "variances")


@dataclass(frozen=True)
class MapAdapted:
    """`programs` is the folder that holds sphinxtrain's; Debian's unless given."""

    programs: str = "/usr/lib/sphinxtrain"
    ready: ClassVar[bool] = True
    drawn: ClassVar[bool] = False

    def setup(self) -> None:
        needed = (f"{self.programs}/bw", f"{self.programs}/map_adapt", "sphinx_fe")
        missing = [program for program in needed if shutil.which(program) is None]
        if missing:
            raise RunError(f"learners.map: {missing[0]} is not installed; {INSTALL}")

    def cost_s(self, training_s: float, test_s: float) -> float:
        return 0.03 * training_s + 0.06 * test_s

    def train(
        self, examples: Sequence[SpokenExample], lexicon: Lexicon, vocabulary: Sequence[str], seed: int
    ) -> SphinxRecogniser:
        import pocketsphinx

        require((bool(vocabulary), "vocabulary: at least one word is needed"))
        model = Path(pocketsphinx.get_model_path("en-us/en-us"))
        with tempfile.TemporaryDirectory(prefix="sottovoce-map-") as name:
            folder = Path(name)
            adapted = self.adapted(examples, lexicon, folder) if examples else model
            return SphinxRecogniser(_decoder(adapted, lexicon, vocabulary, folder))

    def adapted(self, examples: Sequence[SpokenExample], lexicon: Lexicon, folder: Path) -> Path:
        """Where in `folder`, which is used for everything on the way, the adapted model lies."""
        import pocketsphinx

        model = Path(pocketsphinx.get_model_path("en-us/en-us"))
        names = [f"{number:06}" for number in range(len(examples))]
        for part in ("wav", "feat", "counts", "adapted"):
            (folder / part).mkdir()
        for name, example in zip(names, examples, strict=True):
            _write_wav(folder / "wav" / f"{name}.wav", example.speech)
        said = [f"<s> {' '.join(one.words)} </s> ({name})\n" for one, name in zip(examples, names, strict=True)]
        (folder / "ids").write_text("".join(f"{name}\n" for name in names))
        (folder / "said").write_text("".join(said))
        _write_dictionary(folder / "train.dict", {word for one in examples for word in one.words}, lexicon)
        write_definition(model, folder / "mdef.txt")
        write_weights(model, folder / "mixture_weights")
        settings = dict(line.split() for line in (model / "feat.params").read_text().splitlines() if line.strip())
        _run("sphinx_fe", *_chosen(settings, FRONT_END), "-remove_silence", "no", "-samprate", str(sphinx.RATE_HZ),
             "-c", folder / "ids", "-di", folder / "wav", "-do", folder / "feat", "-ei", "wav", "-eo", "mfc",
             "-mswav", "yes")  # fmt: skip
        parameters = ("-moddeffn", folder / "mdef.txt", "-ts2cbfn", ".ptm.", "-meanfn", model / "means", "-varfn",
                      model / "variances", "-mixwfn", folder / "mixture_weights", "-tmatfn",
                      model / "transition_matrices")  # fmt: skip
        _run(f"{self.programs}/bw", *parameters, *_chosen(settings, STREAMS), "-dictfn", folder / "train.dict",
             "-fdictfn", model / "noisedict", "-ctlfn", folder / "ids", "-lsnfn", folder / "said", "-cepdir",
             folder / "feat", "-cepext", "mfc", "-accumdir", folder / "counts", "-topn", "8", "-timing", "no")  # fmt: skip
        _run(f"{self.programs}/map_adapt", *parameters, "-accumdir", folder / "counts", "-mapmeanfn",
             folder / "adapted" / "means")  # fmt: skip
        for file in KEPT:
            shutil.copy(model / file, folder / "adapted" / file)
        return folder / "adapted"


@dataclass(frozen=True, repr=False)
class SphinxRecogniser:
    """What training gives: pocketsphinx with the adapted model, or with its own where there was nothing to adapt to."""

    decoder: Any

    def hear(self, speech: Speech) -> tuple[str, ...]:
        sphinx.decode(self.decoder, None, sphinx.pcm_of(speech))
        heard = self.decoder.hyp()
        return tuple(heard.hypstr.split()) if heard is not None else ()


def _decoder(model: Path, lexicon: Lexicon, vocabulary: Sequence[str], folder: Path) -> Any:
    """With every word of the vocabulary as likely as every other, after whatever word."""
    import pocketsphinx

    words = sorted(set(vocabulary))
    _write_dictionary(folder / "test.dict", words, lexicon)
    price = -float(np.log10(len(words) + 1))
    grams = "".join(f"{price:.4f} {word}\n" for word in ("</s>", *words))
    (folder / "loop.lm").write_text(f"\\data\\\nngram 1={len(words) + 2}\n\n\\1-grams:\n-99 <s>\n{grams}\n\\end\\\n")
    return pocketsphinx.Decoder(
        hmm=str(model), dict=str(folder / "test.dict"), lm=str(folder / "loop.lm"), lw=10, wip=0.2, beam=1e-80,
        wbeam=1e-40, mmap=False, loglevel="FATAL",
    )  # fmt: skip


def _chosen(settings: dict[str, str], names: Sequence[str]) -> list[str]:
    return [part for name in names if name in settings for part in (name, settings[name])]


def _write_wav(path: Path, speech: Speech) -> None:
    import soundfile

    soundfile.write(path, np.frombuffer(sphinx.pcm_of(speech), np.int16), sphinx.RATE_HZ, subtype="PCM_16")


def _write_dictionary(path: Path, words: Sequence[str] | set[str], lexicon: Lexicon) -> None:
    lines = []
    for word in sorted(words):
        for number, phones in enumerate(lexicon.pronunciations[word], 1):
            lines.append(f"{word if number == 1 else f'{word}({number})'} {' '.join(phones)}\n")
    path.write_text("".join(lines))


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        # Their logs quote transcripts, so none of it is shown.
        raise RunError(f"learners.map: {Path(command[0]).name} failed with code {done.returncode}")
