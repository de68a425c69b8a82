"""The two models: shapes, padding, pre-trained encoders, and that they learn."""

import pytest
import torch
from tiny_training import TINY, sentences, tiny

from sottovoce.models.errors import SettingsError
from sottovoce.models.records import Source
from sottovoce.models.settings import read_spec
from sottovoce.models.training.batches import collate, encode
from sottovoce.models.training.examples import Example, Labels, labels_of
from sottovoce.models.training.loop.evaluation import confidence, evaluate
from sottovoce.models.training.loop.scores import Scores, Understood, score, slots_of
from sottovoce.models.training.networks.bag import Bag
from sottovoce.models.training.networks.bert import Bert
from sottovoce.models.training.networks.clc import Clc
from sottovoce.models.training.networks.lstm import BiLstm

pytestmark = pytest.mark.slow


def examples(count, seed=0):
    rows = sentences(count, seed)
    return [Example(tuple(r["tokens"]), tuple(r["tags"]), r["intent"], Source("tiny", 1)) for r in rows]


def test_the_published_shapes_are_the_defaults():
    labels = Labels(tuple("abcdefg"), tuple("hijklmnop"))
    clc, bert = Clc().network(labels), Bert().network(labels)
    assert [lstm.recur.hidden for lstm in clc.reader.lstms] == [384, 384]
    config = bert.reader.encoder.config
    assert (config.num_hidden_layers, config.hidden_size, config.num_attention_heads) == (4, 312, 12)
    assert sum(p.numel() for p in clc.parameters()) == pytest.approx(8.2e6, rel=0.02)
    assert sum(p.numel() for p in bert.parameters()) == pytest.approx(7.1e6, rel=0.02)


def test_a_bag_is_the_mean_of_its_words_and_zero_without_any():
    bag, words = Bag(9, 4), torch.tensor([[[3, 5, 0], [0, 0, 0]], [[8, 8, 2], [7, 0, 0]]])
    present = (words > 0).unsqueeze(-1)
    want = (torch.nn.functional.embedding(words, bag.weight) * present).sum(2) / present.sum(2).clamp_min(1)
    torch.testing.assert_close(bag(words), want)


def test_the_lstm_and_its_own_backward_pass_are_those_of_torch():
    torch.manual_seed(0)
    ours, theirs = BiLstm(5, 4), torch.nn.LSTM(5, 4, batch_first=True, bidirectional=True)
    ours.double(), theirs.double()

    def torch_order(gates):  # ours: write, keep, show, proposal; torch: write, keep, proposal, show
        write, keep, show, proposal = gates.chunk(4)
        return torch.cat([write, keep, proposal, show])

    with torch.no_grad():
        for way, suffix in enumerate(("", "_reverse")):
            half = slice(16 * way, 16 * way + 16)
            getattr(theirs, f"weight_ih_l0{suffix}").copy_(torch_order(ours.project.weight[half]))
            getattr(theirs, f"weight_hh_l0{suffix}").copy_(torch_order(ours.recur.weight[way].T))
            getattr(theirs, f"bias_ih_l0{suffix}").copy_(torch_order(ours.project.bias[half]))
            getattr(theirs, f"bias_hh_l0{suffix}").zero_()
    x, lengths = torch.randn(3, 6, 5, dtype=torch.float64, requires_grad=True), torch.tensor([6, 2, 4])
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    want, _ = torch.nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)
    got = ours(x, lengths)
    inside = (torch.arange(6) < lengths.unsqueeze(-1)).unsqueeze(-1)
    assert torch.allclose(got * inside, want)
    gradient = torch.randn_like(got) * inside
    of_x, of_project, of_loop = torch.autograd.grad(got, [x, ours.project.weight, ours.recur.weight], gradient)
    names = [f"weight_{part}_l0{suffix}" for part in ("ih", "hh") for suffix in ("", "_reverse")]
    wanted = torch.autograd.grad(want, [x, *(getattr(theirs, name) for name in names)], gradient)
    assert torch.allclose(of_x, wanted[0])
    mine = [*of_project.chunk(2), *(way.T for way in of_loop)]
    for name, gradient, theirs_of_name in zip(names, mine, wanted[1:], strict=True):
        assert torch.allclose(torch_order(gradient), theirs_of_name), name


@pytest.mark.parametrize("name", list(TINY))
def test_a_row_is_read_alike_alone_and_padded(name):
    network, rows, _ = tiny(name)
    network.eval()
    together, alone = network(collate(rows)), torch.cat([network(collate([row])) for row in rows])
    assert torch.allclose(together, alone, atol=1e-4)


@pytest.mark.parametrize("name", list(TINY))
def test_a_model_learns_what_is_there_to_learn(name):
    torch.manual_seed(0)
    train, test = examples(60), examples(30, seed=1)
    labels = labels_of(train)
    member = TINY[name]
    network, rows, held_out = member.network(labels), *(encode(x, member.encoder(), labels) for x in (train, test))
    optimizer = torch.optim.Adam(network.parameters(), 0.02 if name == "clc" else 0.005)
    for _ in range(60):
        optimizer.zero_grad()
        network(collate(rows)).mean().backward()
        optimizer.step()
    scores = evaluate(network, held_out, test, labels)
    assert scores.intent_accuracy > 0.9 and scores.slot_f1 > 0.9 and scores.ser < 0.1
    said = confidence(network, held_out)
    assert said.features.shape == (30, 7) and said.log_odds.shape == (30,)
    assert (said.features >= 0).all() and (said.features <= 1 + 1e-5).all()


def test_a_pretrained_encoder_is_taken_by_path_with_its_tokenizer(tmp_path):
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "play", "book", "wake", "please", "ab", "##ba", "ro", "##me"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    config = BertConfig(
        vocab_size=len(words), num_hidden_layers=1, hidden_size=8, num_attention_heads=2, intermediate_size=8
    )
    BertModel(config).save_pretrained(tmp_path)
    member = Bert(pretrained=str(tmp_path), longest=5)
    encoder = member.encoder()
    assert encoder.encode(["play", "abba"])["first"].tolist() == [1, 2]
    assert encoder.words_kept(["abba", "abba", "abba"]) == 2  # pieces beyond `longest` are cut
    labels = Labels(("a",), ())
    one = [Example(("play", "abba"), ("O", "O"), "a", Source("tiny", 1))]
    assert member.network(labels)(collate(encode(one, encoder, labels))).isfinite().all()
    with pytest.raises(SettingsError, match="cannot be loaded"):
        Bert(pretrained=str(tmp_path / "absent")).encoder()


def test_vectors_of_a_file_stay_as_they_are(tmp_path):
    (tmp_path / "v.vec").write_text("play 1 2\nrome 2 1\n")
    member = Clc(hidden=4, filters=2, character_size=2, vectors=str(tmp_path / "v.vec"))
    network = member.network(Labels(("a", "b"), ()))
    assert not network.reader.words.weight.requires_grad
    assert member.encoder().encode(["Rome", "else"])["words"].tolist() == [3, 1]


def test_models_are_rows_of_the_table():
    assert read_spec("training", {"use": "clc", "hidden": 3}).make() == Clc(hidden=3)
    with pytest.raises(SettingsError, match=r"training.bert.hidden: 311 is not a multiple"):
        read_spec("training", {"use": "bert", "hidden": 311})


def test_the_semantic_error_rate_counts_the_intent_as_a_slot():
    tags = ("O", "B-a", "I-a", "B-b")
    assert slots_of(tags) == [(1, 3, "a"), (3, 4, "b")]
    truth = Understood("i", tags)
    assert score([(truth, truth)]) == Scores(0.0, 1.0, 1.0, 1, 1)
    substituted = score([(truth, Understood("j", ("O", "B-a", "O", "B-b")))])
    assert substituted.ser == pytest.approx(2 / 3) and substituted.slot_f1 == pytest.approx(0.5)
    inserted = score([(Understood("i", ("O",)), Understood("i", ("B-a",)))])
    assert inserted.ser == 1.0
    assert score([(truth, Understood("i", ("O",) * 4))]).ser == pytest.approx(2 / 3)
