"""The conditional random field against counting every path."""

import itertools

import pytest
import torch

from sottovoce.models.training.networks.crf import (
    Transitions,
    best_path,
    log_partition,
    marginals,
    negative_log_likelihood,
)

TAGS, LENGTHS = 3, torch.tensor([4, 1, 3])


def all_paths(emissions, table, length):
    for path in itertools.product(range(TAGS), repeat=length):
        score = table[TAGS, path[0]] + table[TAGS + 1, path[-1]]
        score = score + sum(emissions[place, tag] for place, tag in enumerate(path))
        score = score + sum(table[a, b] for a, b in itertools.pairwise(path))
        yield path, score


@pytest.fixture
def case():
    torch.manual_seed(3)
    return 4 * torch.randn(3, 4, TAGS, dtype=torch.float64), 4 * torch.randn(TAGS + 2, TAGS, dtype=torch.float64)


@pytest.mark.parametrize("per_row", [False, True])
def test_likelihood_marginals_and_best_path_are_exact(case, per_row):
    emissions, shared = case
    table = shared.expand(3, -1, -1) if per_row else shared
    tags = torch.tensor([[0, 2, 1, 1], [2, 0, 0, 0], [1, 1, 0, 2]])
    losses = negative_log_likelihood(emissions, table, tags, LENGTHS)
    partition, found = log_partition(emissions, table, LENGTHS), best_path(emissions, table, LENGTHS)
    probabilities = marginals(emissions, table, LENGTHS)
    for row, length in enumerate(LENGTHS.tolist()):
        paths = dict(all_paths(emissions[row], shared, length))
        scores = torch.stack(list(paths.values()))
        assert torch.allclose(partition[row], scores.logsumexp(0))
        assert torch.allclose(losses[row], scores.logsumexp(0) - paths[tuple(tags[row, :length].tolist())])
        assert tuple(found[row, :length].tolist()) == max(paths, key=lambda path: paths[path].item())
        mass = sum(p for path, p in zip(paths, scores.softmax(0), strict=True) if path[0] == 1)
        assert probabilities[row, 0, 1].item() == pytest.approx(float(mass))
        assert torch.allclose(probabilities[row, :length].sum(-1), torch.ones(length, dtype=torch.float64))


@pytest.mark.slow
def test_slopes_in_closed_form_are_those_of_differences(case):
    emissions, table = (tensor.requires_grad_() for tensor in case)
    assert torch.autograd.gradcheck(lambda e, t: log_partition(e, t, LENGTHS), (emissions, table))
    spread = table.expand(3, -1, -1)
    of_rows = torch.autograd.grad(log_partition(emissions, spread, LENGTHS).sum(), spread)[0]
    for row in range(3):
        alone = log_partition(emissions[row : row + 1], table, LENGTHS[row : row + 1])
        assert torch.allclose(of_rows[row], torch.autograd.grad(alone, table)[0])


def test_what_stands_in_the_padding_changes_nothing(case):
    emissions, table = case
    tags = torch.zeros(3, 4, dtype=torch.int64)
    before = negative_log_likelihood(emissions, table, tags, LENGTHS)
    emissions[1, 1:], tags[2, 3] = 1e3, 2
    assert torch.equal(before, negative_log_likelihood(emissions, table, tags, LENGTHS))


def test_extreme_scores_stay_finite():
    table = torch.full((TAGS + 2, TAGS), -200.0)
    table[0, 0] = 200.0
    emissions = torch.tensor([[[0.0, 500.0, -500.0]] * 4], requires_grad=True)
    loss = negative_log_likelihood(emissions, table, torch.full((1, 4), 2), torch.tensor([4]))
    loss.sum().backward()
    assert loss.isfinite().all() and emissions.grad.isfinite().all()


def test_the_table_is_spread_over_rows_only_when_asked():
    transitions = Transitions(TAGS)
    assert transitions(5).shape == (TAGS + 2, TAGS)
    transitions.per_row = True
    assert transitions(5).shape == (5, TAGS + 2, TAGS)
