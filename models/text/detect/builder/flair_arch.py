"""Train a flair BiLSTM-CRF from scratch: characters and words, no download.

flair's stacked embeddings lose a name prefix when they are loaded again if the one-hot words come first: features swap
without a word and the tagger finds nothing. Characters come first here, and the saved model must repeat its predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.models.errors import RunError
from sottovoce.models.text.detect.builder.corpora import MIXED, OUTSIDE, TaggedExample, stretches
from sottovoce.models.text.detect.builder.recipe import TrainingMaterial


@dataclass(frozen=True)
class FlairTraining:
    """The recipe of flair's SequenceTagger: size, optimiser and length of training."""

    epochs: int = 10
    learning_rate: float = 3e-3
    batch_size: int = 32
    hidden: int = 192
    word_dimensions: int = 100
    patience: int = 3
    seed: int = 20240607
    device: str = "cpu"


def train_flair(
    material: TrainingMaterial, options: FlairTraining, out: Path, say: Callable[[str], None]
) -> list[dict[str, float]]:
    """Fit epoch by epoch on fresh draws of the material, keep the best on dev, stop when dev no longer improves."""
    import flair
    import torch

    flair.device = torch.device(options.device)
    flair.set_seed(options.seed)
    draw = np.random.default_rng(options.seed)
    first = _sentences(material.epoch(draw))
    dev = _sentences([example for examples in material.dev.values() for example in examples])
    tagger = _tagger(first, material.types(), options)
    optimiser = torch.optim.AdamW(tagger.parameters(), lr=options.learning_rate)
    path, history, best, stale = out / "model.pt", [], -1.0, 0
    for epoch in range(options.epochs):
        for group in optimiser.param_groups:
            group["lr"] = options.learning_rate * (1 - epoch / options.epochs)
        loss = _epoch(tagger, optimiser, first if epoch == 0 else _sentences(material.epoch(draw)), options, draw, say)
        scores = _word_scores(tagger, dev)
        history.append({"epoch": epoch + 1, "loss": loss, **scores})
        say(
            f"epoch {epoch + 1}/{options.epochs}: loss {loss:.4f} dev recall {scores['recall']:.4f} f1 {scores['f1']:.4f}"
        )
        if scores["f1"] >= best:
            best, stale = scores["f1"], 0
            tagger.save(path)
            kept = _predictions(tagger, dev[:200])
        else:
            stale += 1
            if stale >= options.patience:
                break
    _check_reload(path, dev[:200], kept)
    return history


def _tagger(sentences: Sequence[Any], types: Sequence[str], options: FlairTraining) -> Any:
    from flair.data import Corpus, Dictionary
    from flair.datasets import FlairDatapointDataset
    from flair.embeddings import CharacterEmbeddings, OneHotEmbeddings, StackedEmbeddings
    from flair.models import SequenceTagger

    characters = Dictionary(add_unk=True)
    for character in sorted({c for sentence in sentences for token in sentence for c in token.text}):
        characters.add_item(character)
    labels = Dictionary(add_unk=False)
    labels.span_labels = True  # flair then adds O and the BIOES forms itself
    for kind in types:
        labels.add_item(kind)
    words = OneHotEmbeddings.from_corpus(
        Corpus(FlairDatapointDataset(list(sentences)), sample_missing_splits=False),
        min_freq=2,
        embedding_length=options.word_dimensions,
    )
    embeddings = StackedEmbeddings([CharacterEmbeddings(_as_file(characters), 25, 50), words])
    return SequenceTagger(
        embeddings=embeddings, tag_dictionary=labels, tag_type="ner", tag_format="BIOES",
        hidden_size=options.hidden, use_crf=True, use_rnn=True,
    )  # fmt: skip


def _as_file(characters: Any) -> str:
    """CharacterEmbeddings takes its dictionary by path only; it keeps the contents, so the file may go."""
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".dict", delete=False) as file:
        path = file.name
    characters.save(path)
    return path


def _sentences(examples: Sequence[TaggedExample]) -> list[Any]:
    from flair.data import Sentence

    made = []
    for example in examples:
        tokens = [token for token in example.tokens if token.strip()]
        if not tokens or len(tokens) != len(example.tokens):
            continue
        sentence = Sentence(list(tokens))
        if len(sentence) != len(tokens):
            continue
        labels = [OUTSIDE if label == MIXED else label for label in example.labels]
        for begin, end, kind in stretches(labels):
            sentence[begin:end].add_label("ner", kind)
        made.append(sentence)
    return made


def _epoch(
    tagger: Any, optimiser: Any, sentences: list[Any], options: FlairTraining, draw: np.random.Generator, say: Callable
) -> float:
    import torch

    tagger.train()
    order = sorted(range(len(sentences)), key=lambda at: len(sentences[at]) + 2 * draw.random())
    groups = [order[at : at + options.batch_size] for at in range(0, len(order), options.batch_size)]
    total = words = 0.0
    for step, at in enumerate(draw.permutation(len(groups))):
        batch = [sentences[index] for index in groups[int(at)]]
        loss, count = tagger.forward_loss(batch)
        (loss / count).backward()
        torch.nn.utils.clip_grad_norm_(tagger.parameters(), 5.0)
        optimiser.step()
        optimiser.zero_grad()
        for sentence in batch:
            sentence.clear_embeddings()
        total, words = total + loss.item(), words + count
        if step % 200 == 0:
            say(f"step {step}/{len(groups)} loss {total / words:.4f}")
    return total / words


def _predictions(tagger: Any, sentences: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
    tagger.eval()
    tagger.predict(list(sentences), label_name="predicted", mini_batch_size=64, embedding_storage_mode="none")
    found = [[_place(span) for span in sentence.get_spans("predicted")] for sentence in sentences]
    for sentence in sentences:
        sentence.remove_labels("predicted")
    return found


def _place(span: Any) -> tuple[int, int, str]:
    return span.tokens[0].idx - 1, span.tokens[-1].idx, span.get_label("predicted").value


def _word_scores(tagger: Any, dev: Sequence[Any]) -> dict[str, float]:
    hit = said = gold = 0
    for sentence, found in zip(dev, _predictions(tagger, dev), strict=True):
        guessed = {at for begin, end, _ in found for at in range(begin, end)}
        true = {token.idx - 1 for span in sentence.get_spans("ner") for token in span.tokens}
        hit, said, gold = hit + len(guessed & true), said + len(guessed), gold + len(true)
    recall, precision = hit / max(gold, 1), hit / max(said, 1)
    return {"recall": recall, "precision": precision, "f1": 2 * recall * precision / max(recall + precision, 1e-9)}


def _check_reload(path: Path, sentences: Sequence[Any], before: list) -> None:
    from flair.models import SequenceTagger

    # A pickle, but one that this very process has just written.
    if _predictions(SequenceTagger.load(path), sentences) != before:
        path.unlink()
        raise RunError("the saved flair model does not repeat its predictions once loaded; nothing was kept")
