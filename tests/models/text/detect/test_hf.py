"""Token-classification models of the Hugging Face kind, made on the spot."""

import pytest
from any_text import any_text, check_spans
from hypothesis import HealthCheck, given, settings

from sottovoce.models.text.detect.hf import HuggingFace
from sottovoce.models.text.detect.type_names import renamed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tiny_encoder, tmp_path_factory):
    import torch
    from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("hf")
    config = BertConfig.from_pretrained(tiny_encoder, id2label={0: "O", 1: "B-PERSON", 2: "I-PERSON", 3: "B-GPE"})
    torch.manual_seed(1)
    model = BertForTokenClassification(config)
    torch.nn.init.normal_(model.classifier.weight, std=2.0)
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_file=str(tiny_encoder / "tokenizer.json"), pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]", model_max_length=40,
    ).save_pretrained(folder)  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def detector(folder):
    made = HuggingFace(model=str(folder), device="cpu", outside_bias=2.0)
    made.setup()
    return made


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_text)
def test_offsets_hold_for_any_text(detector, text):
    check_spans(text, detector.detect([text])[0])


def test_types_get_our_names(detector):
    spans = detector.detect(["call anna now", "grace lives in oslo please thank you"])
    assert {span.type for found in spans for span in found} <= {"PER", "LOC"}
    assert any(spans)


def test_batches_and_windows_change_nothing(folder, detector):
    texts = ["call anna now", "", "grace lives in oslo", "my name is bob " * 40]
    one_by_one = HuggingFace(model=str(folder), device="cpu", outside_bias=2.0, batch_size=1)
    one_by_one.setup()
    places = [[(s.begin, s.end, s.type) for s in found] for found in detector.detect(texts)]
    assert places == [[(s.begin, s.end, s.type) for s in one_by_one.detect([text])[0]] for text in texts]


def test_a_loaded_model_repeats_its_predictions(folder, detector, tmp_path):
    detector._model.save_pretrained(tmp_path)
    detector._tokenizer.save_pretrained(tmp_path)
    again = HuggingFace(model=str(tmp_path), device="cpu", outside_bias=2.0)
    again.setup()
    texts = ["call anna now", "what is the weather in lima", "dmitri lives in cairo"]
    assert again.detect(texts) == detector.detect(texts)


def test_a_word_is_never_half_masked(detector):
    text = "zzyzx qwertyuiop"  # unknown words: many pieces each
    for span in detector.detect([text])[0]:
        assert span.begin in (0, 6)
        assert span.end in (5, len(text))


def test_label_schemes_are_read_as_bio():
    labels = ["O", "B-PERSON", "I-PERSON", "E-GPE", "S-ORG", "MONEY"]
    assert renamed(labels, {"ORG": "COMPANY"}) == ["O", "B-PER", "I-PER", "I-LOC", "B-COMPANY", "I-AMOUNT"]
