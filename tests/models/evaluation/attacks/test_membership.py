"""Membership inference: blind where there is nothing to see, sharp on a model that learned by heart."""

import numpy as np
import pytest
import torch

from sottovoce.models.errors import SettingsError
from sottovoce.models.evaluation.attacks.membership import judge, lira_attack, shadow_attack
from sottovoce.models.records import Source
from sottovoce.models.training.batches import collate, encode
from sottovoce.models.training.examples import Example, labels_of
from sottovoce.models.training.loop.evaluation import confidence
from sottovoce.models.training.networks.clc import Clc

pytestmark = pytest.mark.slow


def noise_sentences(count, seed):
    """Random words with random labels: nothing can be learned but the sentences themselves."""
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        tokens = tuple("".join(draw.choice(list("abcdefghij"), 4)) for _ in range(5))
        tags = tuple(draw.choice(["O", "B-x", "B-y"], 5).tolist())
        rows.append(Example(tokens, tags, str(draw.choice(["a", "b", "c"])), Source("noise", 1)))
    return rows


@pytest.fixture(scope="module")
def overfitted():
    """What two models, each trained by heart on half of the sentences, say about all of them."""
    torch.manual_seed(0)
    examples = noise_sentences(80, 1)
    labels, member = labels_of(examples), Clc(hidden=16, word_size=16, buckets=2000, filters=8, character_size=8)
    rows = encode(examples, member.encoder(), labels)
    seen = np.zeros((2, 80), dtype=bool)
    seen[0, :40], seen[1, 20:60] = True, True
    said = []
    for inside in seen:
        network = member.network(labels)
        optimizer = torch.optim.Adam(network.parameters(), 0.02)
        batch = collate([row for row, kept in zip(rows, inside, strict=True) if kept])
        for _ in range(120):
            optimizer.zero_grad()
            network(batch).mean().backward()
            optimizer.step()
        said.append(confidence(network, rows))
    return said, seen


def test_a_model_that_learned_by_heart_gives_its_members_away(overfitted):
    (target, shadow), seen = overfitted
    attack = shadow_attack(
        shadow.features[seen[1]], shadow.features[~seen[1]], target.features[seen[0]], target.features[~seen[0]]
    )
    assert attack.auc.value > 0.85 and attack.auc.low > 0.75
    assert judge(target.log_odds[seen[0]], target.log_odds[~seen[0]]).auc.value > 0.9


def test_random_membership_labels_give_chance(overfitted):
    """20 random relabellings: the mean AUC of a guess leaves [0.4, 0.6] less than once in 10^6."""
    (target, _), _ = overfitted
    draw, areas, covered = np.random.default_rng(0), [], 0
    for _ in range(20):
        member = draw.permutation(80) < 40
        auc = shadow_attack(
            target.features[member][:20], target.features[~member][:20], target.features[member][20:],
            target.features[~member][20:],
        ).auc  # fmt: skip
        areas.append(auc.value)
        covered += auc.low <= 0.5 <= auc.high
    assert 0.4 < np.mean(areas) < 0.6 and covered >= 14


def test_lira_finds_members_at_few_false_alarms_where_models_differ():
    """Synthetic log odds with a shift of 3 deviations for members; fixed seed."""
    draw = np.random.default_rng(3)
    hardness, n = draw.normal(0, 5, 2000), 2000
    seen = np.stack([draw.permutation(n) < n // 2 for _ in range(4)] + [np.arange(n) % 2 == 0, np.arange(n) % 2 == 1])
    shadows = hardness + 3 * seen + draw.normal(size=seen.shape)
    member = draw.permutation(n) < n // 2
    target = hardness + 3 * member + draw.normal(size=n)
    attack, naive = lira_attack(target, member, shadows, seen), judge(target[member], target[~member])
    assert attack.auc.value > 0.95 > naive.auc.value
    assert attack.hits[0.01].low > 0.4 > naive.hits[0.01].high
    blind = lira_attack(hardness + draw.normal(size=n), member, shadows, seen)
    assert blind.auc.low < 0.5 < blind.auc.high
    with pytest.raises(SettingsError, match="some shadow models and not by others"):
        lira_attack(target, member, shadows[:1], seen[:1])


def test_scores_that_are_perfectly_apart_still_have_an_interval():
    attack = judge(np.array([2.0, 3, 4]), np.array([0.0, 1, 1]))
    assert attack.auc.value == 1.0 and 0 < attack.auc.low < 1
    assert attack.hits[0.1].value == 1.0 and attack.hits[0.1].low < 1
    with pytest.raises(SettingsError, match="members and others"):
        judge(np.array([1.0]), np.array([0.0, 1.0]))


def test_ties_count_half():
    assert judge(np.array([1.0, 1, 1]), np.array([1.0, 1, 1])).auc.value == 0.5
