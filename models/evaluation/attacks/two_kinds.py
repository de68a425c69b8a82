"""The attackers' one learner: a logistic regression that tells two kinds apart by their features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def learn_to_tell(ones: np.ndarray, others: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """From features [n, d] of both kinds: a function that gives the log odds of being one of the first, for new features.

    Features are standardised and both kinds weigh the same, however many there are of each.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))
    model.fit(np.concatenate([ones, others]), np.arange(len(ones) + len(others)) < len(ones))
    return model.decision_function
