"""The acoustic model: one backward pass clips each unit through convolutions and normalisations, and public statistics keep
a row's gradient its own, which those of DPSGD + BN do not."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from sottovoce.models.errors import CorpusError, SettingsError
from sottovoce.models.records import Source
from sottovoce.models.speech.mel_bands import BANDS
from sottovoce.models.training.batches import collate_named
from sottovoce.models.training.networks.conv import ConvModel
from sottovoce.models.training.privacy.accounting import edp_epsilon
from sottovoce.models.training.privacy.ghost import clip_per_unit
from sottovoce.models.training.privacy.plan import make_plan
from sottovoce.models.training.privacy.soundness import PrivacyTerms
from sottovoce.models.training.tasks.am import Recognition
from sottovoce.models.training.train_settings import TrainSettings
from sottovoce.pipelines.cli import main

DEMO = Path(__file__).parents[4] / "examples" / "demo"
SOUND = ("layer", "group", "public", "with_public", "none")


def heard(count, seed=0, longest=40):
    draw = np.random.default_rng(seed)
    return [
        {"bands": draw.normal(size=(int(draw.integers(20, longest)), 40)), "letters": draw.integers(1, 29, 4)}
        for _ in range(count)
    ]


def network_of(norm, depth=2, width=8, public=5):
    torch.manual_seed(0)
    network = ConvModel(norm=norm, depth=depth, width=width).network(None).double()
    for parameter in network.parameters():  # nothing may vanish because it begins at 0 or 1
        parameter.data += 0.1 * torch.randn_like(parameter)
    network.public = collate_named(heard(public, seed=9)) if norm in ("public", "with_public", "paper") else None
    return network


def clipped(network, rows, clip=0.5, rows_per_unit=1):
    network.zero_grad()
    batch = collate_named(rows, [1.0] * len(rows))
    batch.weights = batch.weights.double()
    _, norms = clip_per_unit(network, batch, clip, rows_per_unit)
    return torch.cat([p.grad.flatten() for p in network.parameters()]), norms


@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("norm", SOUND)
def test_clipped_sums_equal_those_of_each_unit_alone(norm, rows_per_unit):
    network, rows, clip = network_of(norm), heard(6), 0.5
    total, norms = clipped(network, rows, clip, rows_per_unit)
    want = torch.zeros_like(total)
    for begin in range(0, len(rows), rows_per_unit):  # alone: padding, too, must not let others in
        network.zero_grad()
        network(collate_named(rows[begin : begin + rows_per_unit])).sum().backward()
        own = torch.cat([p.grad.flatten() for p in network.parameters()])
        assert norms[begin // rows_per_unit].item() == pytest.approx(own.norm().item(), rel=1e-6)
        want += own * min(1.0, clip / own.norm().item())
    assert torch.allclose(total, want, atol=1e-6)


class Layers(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, batch):
        x = batch["bands"]
        return self.layers(x).tanh().flatten(1).sum(1)


@pytest.mark.parametrize(
    ("layers", "shape"),
    [
        (lambda: nn.Conv1d(6, 4, 3, stride=2, padding=1, dilation=2, groups=2), (6, 9)),
        (lambda: nn.Sequential(nn.Conv1d(6, 8, 4, padding="same"), nn.GroupNorm(2, 8)), (6, 9)),
        (lambda: nn.Conv2d(3, 6, (3, 2), stride=(2, 1), padding=(1, 0), groups=3), (3, 7, 5)),
        (lambda: nn.Sequential(nn.Conv2d(2, 4, 3, padding="valid", bias=False), nn.GroupNorm(4, 4)), (2, 6, 6)),
    ],
)
def test_convolutions_of_every_kind_have_the_gradient_of_torch_func(layers, shape):
    torch.manual_seed(3)
    network = Layers(layers()).double()
    batch = collate_named([{"bands": np.random.default_rng(n).normal(size=shape)} for n in range(5)], [1.0] * 5)
    batch.tensors["bands"], batch.weights = batch["bands"].double(), batch.weights.double()
    _, norms = clip_per_unit(network, batch, 1e9)
    parameters = {name: p.detach() for name, p in network.named_parameters()}

    def loss(values, x):
        own = type(batch)({"bands": x.unsqueeze(0)}, {}, batch.weights[:1])
        return torch.func.functional_call(network, values, (own,)).sum()

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(parameters, batch["bands"])
    squares = sum(g.flatten(1).square().sum(1) for g in each.values())
    assert norms.tolist() == pytest.approx(squares.sqrt().tolist(), rel=1e-6)
    for name, parameter in network.named_parameters():
        assert torch.allclose(parameter.grad, each[name].sum(0), atol=1e-6), name


def moved(norm, rows=8, public=5):
    """How far replacing one row moves the sum of clipped gradients, in units of C: 2 is what clipping is counted for."""
    network, clip, before = network_of(norm, depth=3, public=public), 0.05, heard(rows)
    loud = [{**before[0], "bands": 1e3 * before[0]["bands"]}, *before[1:]]
    return float((clipped(network, before, clip)[0] - clipped(network, loud, clip)[0]).norm()) / clip


def test_statistics_over_private_rows_break_the_bound_and_the_others_keep_it():
    assert moved("paper") > 2.2  # the attack bites: D2.3's own statistics
    for norm in SOUND:
        assert moved(norm) <= 2 + 1e-6, norm


GOLDEN = Path(__file__).parents[5] / "shared" / "golden" / "bn_sensitivity.csv"


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden values of D2.3's statistics are not here")
def test_each_row_of_the_golden_table_lies_within_its_bound_here_as_there():
    """The networks differ, so the measured figures do; the bounds and who keeps within them do not."""
    for row in csv.DictReader(GOLDEN.open()):
        rows, public = int(row["L"]), int(row["M"])
        if (
            rows > 32 or not public
        ):  # 128 rows take the time of all others; without public rows there are no such statistics
            continue
        figures = {name: moved(name, rows, public) for name in ("paper", "with_public", "public")}
        assert float(row["replace_one_bound_if_separable"]) < figures["paper"] <= float(row["worst_case_bound_mixed"])
        assert max(figures["with_public"], figures["public"]) <= float(row["replace_one_bound_if_separable"]) + 1e-6


def test_the_sound_figure_of_paper_statistics_counts_all_rows_of_the_batch():
    settings = TrainSettings(
        task="am", model={"use": "conv", "norm": "paper"}, mode="per_example", sampling="shuffle", z0=4.0, batch_size=8,
        n_micro=2, epochs=2, public_data="public.jsonl", unit="example",
    )  # fmt: skip
    plan = make_plan(settings, 64, 1)
    terms = PrivacyTerms(
        epochs=2, n=64, batch_size=8, n_micro=2, microbatch_size=1, delta=plan.delta, adjacency="replace_one",
        sampling="shuffle", noise="sound", accountant="gdp",
    )  # fmt: skip
    assert plan.claimed().epsilon == pytest.approx(edp_epsilon(terms, 4.0).epsilon)
    assert plan.sound().epsilon == pytest.approx(edp_epsilon(terms, 4.0 / 8).epsilon)
    assert plan.sound().epsilon > 4 * plan.claimed().epsilon


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": {"use": "conv", "norm": "public"}}, "public_data: missing"),
        ({"model": {"use": "conv", "norm": "paper"}, "public_data": "p"}, "use sampling: shuffle"),
        ({"model": {"use": "conv", "norm": "batch"}}, "norm"),
        ({"model": {"use": "conv", "alphabet": "aa"}}, "alphabet"),
    ],
)
def test_what_normalisation_cannot_keep_is_refused_with_its_reason(changes, words):
    with pytest.raises(SettingsError, match=words):
        _ = TrainSettings(task="am", mode="per_example", z0=1.0, **changes).member


def test_speech_without_text_is_left_out_and_unreadable_speech_is_named_by_place():
    rows = [{"audio": str(next((DEMO / "audio").iterdir())), "text": "…"}, {"audio": "absent.wav", "text": "hello"}]
    assert Recognition().read([(Source("f", 1), rows[0])]).left_out == 1
    with pytest.raises(CorpusError, match="f: line 2: audio: audio_not_found"):
        Recognition().read([(Source("f", 2), rows[1])])


def test_a_network_that_hears_nothing_is_said_to_have_learnt_nothing():
    network, rows, task = network_of("layer"), heard(6), Recognition()
    for parameter in network.parameters():
        parameter.data.zero_()
    assert task.nothing_learnt(task.evaluate(network, rows, [None] * 6, None))


@pytest.mark.slow
def test_an_acoustic_model_is_trained_on_recordings_and_hears(tmp_path, capsys):
    rows = [json.loads(line) for line in (DEMO / "manifest.jsonl").read_text().splitlines()]
    rows = [row | {"audio_filepath": str(DEMO / row["audio_filepath"])} for row in rows[:27]]
    data, public = tmp_path / "data.jsonl", tmp_path / "public.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows[3:]))
    public.write_text("".join(json.dumps(row) + "\n" for row in rows[:3]))
    model = {"use": "conv", "norm": "public", "depth": 1, "width": 8, "longest_s": 2.0}
    settings = {"task": "am", "model": model, "mode": "per_example", "z0": 1.0, "epochs": 1, "batch_size": 4,
                "n_micro": 1, "public_data": str(public), "unit": "example"}  # fmt: skip
    (tmp_path / "train.yaml").write_text(json.dumps(settings))
    flags = ["--data", data, "--config", tmp_path / "train.yaml", "--out", tmp_path / "out"]
    assert main(["train", *map(str, flags)]) == 0
    card = json.loads((tmp_path / "out/model/privacy_card.json").read_text())
    assert card["task"] == "am" and 0 < card["epsilon"] < math.inf and "nothing_learnt" in card
    capsys.readouterr()
    (tmp_path / "paths.txt").write_text(f"{rows[3]['audio_filepath']}\nabsent.wav\n")
    assert main(["predict", "--model", str(tmp_path / "out/model"), "--input", str(tmp_path / "paths.txt")]) == 0
    heard, absent = map(json.loads, capsys.readouterr().out.splitlines())
    assert isinstance(heard["text"], str) and absent["refused"] == "audio_not_found"
    assert main(["predict", "--model", str(tmp_path / "out/model"), "--traced", str(tmp_path / "am.pt2")]) == 0
    traced, bands = torch.export.load(tmp_path / "am.pt2").module(), torch.zeros(2, 50, BANDS)
    scores, frames = traced({"bands": bands}, {"bands": torch.tensor([50, 31])})
    assert frames.tolist() == [17, 11] and scores.exp().sum(-1)[0].tolist() == pytest.approx([1.0] * 17, abs=1e-4)


def test_words_are_counted_where_the_alphabet_has_a_space():
    network, task = ConvModel(depth=1, width=4, alphabet="ab ").network(None), Recognition()
    task._answers = lambda network, rows: [[1, 3, 2], [2]]
    rows = [{"letters": np.array(letters)} for letters in ([1, 3, 2], [1, 3, 2])]
    scores = task.evaluate(network, rows, [None] * 2, None)
    assert scores["word_errors"] == 0.25 and scores["letter_errors"] == pytest.approx(2 / 6)
