"""The mechanism of ADePT: what is clipped, how much noise there is, and what the ledger may say of it."""

import itertools
import json
import math

import numpy as np
import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.records import Slot, Source, Utterance
from sottovoce.models.text.rewrite.adept import Adept
from sottovoce.models.text.rewrite.autoencoder import AutoEncoder, load, text_of, tokens_of


def said(text, intent=None, slots=()):
    return Utterance("u", "d", 0, text, Source("f", 1), intent=intent, slots=slots)


def test_intent_and_slots_travel_in_the_sentence_and_come_back():
    one = said("Wake me at nine", "alarm", (Slot(8, 15, "when"),))
    tokens = tokens_of(one)
    assert tokens == ["intent:alarm", "wake", "me", "[when", "at", "nine", "]"]
    assert text_of(tokens) == ("wake me at nine", "alarm", (Slot(8, 15, "when"),))
    assert text_of(["]", "[when", "]", "[a", "x", "[b", "y"]) == ("x y", None, (Slot(0, 1, "a"), Slot(2, 3, "b")))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_two_utterances_are_never_further_apart_than_the_noise_is_made_for(noise):
    """Sound: 2 C in the norm that the noise answers for. The paper's clip leaves Laplace sqrt(d) times as much."""
    quiet = np.random.Generator(np.random.Philox(1))
    vectors = np.random.default_rng(0).normal(size=(50, 16)) * 100
    corner = np.ones(16) * 100.0

    class Silent:
        def laplace(self, scale, size):
            return np.zeros(size)

        def normal(self, scale, size):
            return np.zeros(size)

    order = 1 if noise == "laplace" else 2
    for mode, bound in (("sound", 2.0), ("paper", 2.0 * (4 if noise == "laplace" else 1))):
        rewriter = Adept(noise=noise, mode=mode)
        clipped = [rewriter.noisy(one, Silent()) for one in (*vectors, corner, -corner)]
        widest = max(np.linalg.norm(a - b, order) for a in clipped for b in clipped)
        assert widest <= bound + 1e-9
        assert mode == "sound" or widest == pytest.approx(bound)  # the law bites: opposite corners reach it
    assert Adept(noise=noise).noisy(vectors[0], quiet).shape == (16,)


def test_the_ledger_tells_the_papers_claim_from_what_holds(tmp_path):
    (tmp_path / "rewriter.json").write_text(json.dumps({"public": True, "recipe": {"dimension": 16}}))
    model = str(tmp_path)
    assert Adept(epsilon=2.0, model=model).ledger().sound["utterance"] == 2.0
    paper = Adept(epsilon=2.0, noise="laplace", mode="paper", model=model).ledger()
    assert paper.paper == {"utterance": 2.0} and paper.sound["utterance"] == pytest.approx(8.0)
    loud = Adept(epsilon=16.0, delta=1e-5, mode="paper", model=model).ledger()
    assert loud.sound["utterance"] > 16.0  # the usual formula is proved below 1 alone, and fails here
    assert math.isinf(paper.sound["speaker"]) and paper.infinite_because


def test_a_decoder_that_has_read_the_corpus_has_no_guarantee(tmp_path):
    (tmp_path / "rewriter.json").write_text(json.dumps({"public": False, "recipe": {"dimension": 16}}))
    entry = Adept(model=str(tmp_path)).ledger()
    assert (
        math.isinf(entry.sound["utterance"]) and "No guarantee" in entry.says and "by heart" in entry.infinite_because
    )


def test_a_folder_without_a_rewriter_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"rewrite\.adept\.model"):
        Adept(model=str(tmp_path)).setup()


def tiny_coder(words=6):
    shape = np.random.default_rng(3)
    sizes = {"embed": (words, 4), "encode_x": (12, 4), "encode_h": (12, 3), "encode_bias": (12,), "project": (2, 3),
             "decode_x": (12, 6), "decode_h": (12, 3), "decode_bias": (12,), "narrow": (4, 3), "head": (words, 4),
             "head_bias": (words,)}  # fmt: skip
    names = ("<pad>", "<unk>", "<s>", "</s>", "a", "b", "c", "d")[:words]
    return AutoEncoder({}, names, {name: shape.normal(size=size) for name, size in sizes.items()})


@pytest.mark.parametrize("beam", [1, 3])
def test_no_word_follows_itself_and_no_three_come_twice(beam):
    vectors = np.random.default_rng(0).normal(size=(20, 2)) * 5
    for found in tiny_coder().decode(vectors, beam):
        assert all(one != other for one, other in itertools.pairwise(found))
        triples = [tuple(found[at : at + 3]) for at in range(len(found) - 2)]
        assert len(triples) == len(set(triples))


@pytest.mark.parametrize("beam", [1, 3])
def test_many_at_once_are_coded_as_each_alone(beam):
    coder, said = tiny_coder(8), [["a"], ["b", "a", "c", "d"], ["d", "b"], ["a", "zebulon"]]
    together = coder.encode(said)
    assert together == pytest.approx(np.concatenate([coder.encode([one]) for one in said]), abs=1e-5)
    assert coder.decode(together, beam) == [coder.decode(one[None], beam)[0] for one in together]


def test_the_rewriter_that_ships_rewrites_offline_and_repeats_its_draws():
    rewriter = Adept(epsilon=5000.0)
    rewriter.setup()
    assert load(None).card["public"]
    one = said("play some music", "PlayMusic")
    made = rewriter.rewrite(one, Secret(b"of this test"))
    assert made.text and made == rewriter.rewrite(one, Secret(b"of this test"))


def test_two_outputs_have_no_noise_in_common():
    """With v + s n and v + t n in hand anybody computes v: what is another vector, or another strength, has another draw."""
    one, secret = said("play some music", "PlayMusic"), Secret(b"of this test")
    others = (
        one,
        said("play some music", "AddToPlaylist"),
        said("play some music", "PlayMusic", (Slot(10, 15, "what"),)),
    )
    draws = [Adept(epsilon=epsilon).draw_for(other, secret).normal() for other in others for epsilon in (8.0, 50.0)]
    assert len(set(draws)) == 6 and draws[0] == Adept(epsilon=8.0).draw_for(one, secret).normal()


@pytest.mark.parametrize(
    ("text", "intent"), [("play some music", "PlayMusic"), ("find me a movie", "SearchScreeningEvent")]
)
def test_without_noise_the_rewriter_that_ships_says_what_was_meant(text, intent):
    coder = load(None)
    vectors = coder.encode([tokens_of(said(text, intent))])
    (found,) = coder.decode(vectors / np.linalg.norm(vectors), 1)
    assert text_of(found)[1] == intent and set(text_of(found)[0].split()) & set(text.split())
