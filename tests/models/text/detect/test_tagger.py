"""The tagger, with a model made on the spot and with the one that ships."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from any_text import any_text, check_spans
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.text.detect.pieces import NETWORK, TOKENIZER, Pieces, windows, word_means
from sottovoce.models.text.detect.tagger import SHIPPED, Tagger, spans_of

pytestmark = pytest.mark.slow

quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def tagger(tiny_tagger):
    made = Tagger(model=str(tiny_tagger), outside_bias=3.0)  # a generous bias: many spans to check
    made.setup()
    return made


@pytest.fixture(scope="module")
def shipped():
    made = Tagger()
    made.setup()
    return made


def texts_of(text, spans):
    return [(text[span.begin : span.end], span.type) for span in spans]


def test_a_small_tagger_learns_its_names_and_places(tiny_tagger):
    tagger = Tagger(model=str(tiny_tagger))
    tagger.setup()
    texts = ["my name is elena", "hugo lives in oslo"]
    first, second = (texts_of(text, spans) for text, spans in zip(texts, tagger.detect(texts), strict=True))
    assert first == [("elena", "PER")]
    assert second == [("hugo", "PER"), ("oslo", "LOC")]


@pytest.mark.parametrize(
    ("text", "name"),
    [("i was reading in reading", "reading"), ("have faith in faith", "faith"), ("Will you meet Will?", "Will")],
)
def test_a_name_that_is_a_word_is_found_beside_the_word(shipped, text, name):
    """Once, and at its second place: the first is the word."""
    assert [(span.begin, text[span.begin : span.end]) for span in shipped.detect([text])[0]] == [
        (text.rindex(name), name)
    ]


@quick
@given(st.lists(any_text, max_size=4))
def test_offsets_hold_for_any_text(tagger, texts):
    for text, spans in zip(texts, tagger.detect(texts), strict=True):
        check_spans(text, spans)


@quick
@given(any_text, any_text)
def test_the_neighbours_in_a_batch_do_not_matter(tagger, one, other):
    alone = tagger.detect([one])[0]
    check_spans(one, alone)
    assert tagger.detect([one, other])[0] == tagger.detect([other, one])[1] == alone


@pytest.mark.parametrize("text", ["", " ", "\n\t", "anna", "\x00\x01", "\u200b", "🙂", "\ud83d"])
def test_empty_and_single_words_are_handled(tagger, text):
    check_spans(text, tagger.detect([text])[0])


def test_ten_thousand_words_are_all_looked_at(tiny_tagger):
    tagger = Tagger(model=str(tiny_tagger))
    tagger.setup()
    text = " ".join(["my name is elena"] * 2500)
    spans = tagger.detect([text])[0]
    check_spans(text, spans)
    assert texts_of(text, spans).count(("elena", "PER")) >= 2000


@given(st.integers(0, 500), st.integers(8, 64))
def test_windows_keep_every_piece_exactly_once_with_context_on_both_sides(length, size):
    kept = []
    for window in windows(length, size):
        assert 0 <= window.begin <= window.keep_begin <= window.keep_end <= window.end <= max(length, 0)
        assert window.end - window.begin <= size
        assert window.keep_begin == 0 or window.keep_begin - window.begin >= size // 4
        kept += range(window.keep_begin, window.keep_end)
    assert kept == list(range(length))


def test_the_words_of_a_text_are_where_the_text_has_them(tiny_tagger):
    pieces = Pieces(tiny_tagger / TOKENIZER)
    text = "Anna's café, 12:30 👋 e\u0301lena"
    (pieced,) = pieces.encode([text])
    assert [text[b:e] for b, e in pieced.words][:8] == ["Anna", "'", "s", "café", ",", "12", ":", "30"]


def test_a_combining_mark_at_the_end_of_a_name_is_covered_with_it():
    names = ["O", "B-PER", "I-PER"]
    text = "rene\u0301 called"
    spans = spans_of(text, [(0, 4), (6, 12)], np.array([[0.0, 5, 0], [5, 0, 0]]), names, 0.0, "x")
    assert [(span.begin, span.end) for span in spans] == [(0, 5)]


def test_a_higher_bias_never_finds_fewer_words(tagger, tiny_tagger):
    text = "what is the weather my name is bob thank you grace"
    covered = []
    for bias in (-2.0, 0.0, 2.0, 6.0):
        made = Tagger(model=str(tiny_tagger), outside_bias=bias)
        made.setup()
        covered.append({at for span in made.detect([text])[0] for at in range(span.begin, span.end) if text[at] != " "})
    assert all(less <= more for less, more in pairwise(covered))


def test_word_means_average_the_pieces():
    assert word_means(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1]), 2).tolist() == [[2.0], [5.0]]


def test_only_the_wanted_types_are_reported(tiny_tagger):
    tagger = Tagger(model=str(tiny_tagger), types=("LOC",))
    tagger.setup()
    assert {span.type for span in tagger.detect(["elena lives in oslo"])[0]} == {"LOC"}


def test_a_tagger_travels_to_a_worker_before_it_is_set_up(tiny_tagger):
    tagger = pickle.loads(pickle.dumps(Tagger(model=str(tiny_tagger))))
    tagger.setup()
    assert tagger.detect(["call anna now"])[0]


def test_a_missing_folder_is_a_settings_error_and_a_missing_network_a_run_error(tmp_path):
    with pytest.raises(SettingsError, match="not a folder"):
        Tagger(model=str(tmp_path / "none"))
    with pytest.raises(RunError, match=NETWORK):
        Tagger(model=str(tmp_path)).setup()
    (tmp_path / NETWORK).touch()
    with pytest.raises(RunError, match=r"tagger\.json: no such file"):
        Tagger(model=str(tmp_path)).setup()


def test_a_text_that_repeats_in_a_batch_is_computed_once_and_nothing_is_kept_for_the_next(tiny_tagger):
    tagger = Tagger(model=str(tiny_tagger))
    tagger.setup()
    asked: list[list[str]] = []
    network = tagger.network("en")
    compute = network.scored
    network.scored = lambda texts, code: asked.append(list(texts)) or compute(texts, code)
    first = tagger.detect(["call anna now", "thank you", "call anna now"])
    assert first[0] == first[2]
    tagger.detect(["call anna now", "hugo lives in oslo"])
    assert asked == [["call anna now", "thank you"], ["call anna now", "hugo lives in oslo"]]


def test_the_shipped_files_stay_below_30_mb():
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*")) < 30e6


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("call john smith tomorrow at seven thirty pm", ["john", "smith", "tomorrow", "seven", "thirty", "pm"]),
        ("Call John Smith tomorrow at 7:30 pm.", ["John", "Smith", "tomorrow", "7:30", "pm"]),
        ("what is the weather in san francisco california", ["san", "francisco", "california"]),
        ("my account number is four five seven two nine one", ["four", "five", "seven", "two", "nine", "one"]),
        ("send maria garcia an email about the lease", ["maria", "garcia"]),
        ("i live at twelve oak street in leeds", ["twelve", "oak", "street", "leeds"]),
        ("i work for barclays in london", ["barclays", "london"]),
    ],
)
def test_the_shipped_tagger_finds_the_obvious(shipped, text, found):
    spans = shipped.detect([text])[0]
    for word in found:
        at = text.index(word)
        assert any(span.begin <= at and at + len(word) <= span.end for span in spans), word


@pytest.mark.parametrize(
    "text", ["turn off the lights in the kitchen", "ok thank you very much", "play some music please"]
)
def test_the_shipped_tagger_leaves_ordinary_requests_alone(shipped, text):
    assert shipped.detect([text]) == [[]]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Please call Will tomorrow", "Will"),
        ("i will call tomorrow", None),
        ("tell mark that i am late", "mark"),
        ("Mark this as read", None),
        ("ask bill to pay the bill", "bill"),
        ("my name is Rose", "Rose"),
        ("buy a rose", None),
        ("REMIND ANNA TO CALL", "ANNA"),
    ],
)
def test_a_name_that_is_a_word_is_told_by_its_place_and_by_case_where_there_is_any(shipped, text, name):
    people = [text[span.begin : span.end] for span in shipped.detect([text])[0] if span.type == "PER"]
    assert people == ([name] if name else [])


def test_the_ledger_quotes_the_measured_recall_and_what_stays_in_the_clear(shipped):
    entry = shipped.ledger()
    assert entry.parameters["measured"]
    for row in entry.parameters["measured"].values():
        assert row["interval"][0] <= row["recall"] <= row["interval"][1]
        assert row["command"].startswith("sottovoce evaluate detect --data ")
    assert "in the clear" in entry.says


def test_an_unmeasured_model_says_so(tagger):
    assert "not been measured" in tagger.ledger().says


def test_the_curve_of_biases_equals_detection_with_each_of_them(tiny_tagger, labelled_file):
    from sottovoce.models.text.detect.builder.corpora import read_examples
    from sottovoce.models.text.detect.builder.tune import curve
    from sottovoce.models.text.detect.measure import measure
    from sottovoce.models.text.detect.rules import Rules

    examples = list(read_examples(labelled_file))[:80]
    plain = Tagger(model=str(tiny_tagger))
    plain.setup()
    for bias, found in curve(plain, (), examples, (0.0, 2.0, 5.0)):
        alone = Tagger(model=str(tiny_tagger), outside_bias=bias)
        alone.setup()
        assert found == measure(alone, examples)
        ((_, together),) = curve(plain, (Rules(),), examples, (bias,))
        assert together.entity_words.hit >= found.entity_words.hit  # rules only add
