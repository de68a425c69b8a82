"""The gradient of a step: the same from N processes and from one, clipped as stated, noised as stated."""

import math
import socket

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tiny_training import bench_for, gradient_in_process

from sottovoce.models.errors import RunError, SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.training.privacy.edp import device_noise, gradient_of_step
from sottovoce.models.training.privacy.noise import NoiseSource
from sottovoce.models.training.privacy.plan import make_plan
from sottovoce.models.training.privacy.sampling import Sampler
from sottovoce.models.training.train_settings import TrainSettings

pytestmark = pytest.mark.slow

SECRET = Secret(b"a secret of this test")
SOUND = TrainSettings(mode="sound", z0=1.0, batch_size=16, n_micro=4, delta=1e-3)


def having(**changes):
    return TrainSettings(**{**SOUND.__dict__, **changes})


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.long)])
def test_several_processes_give_bit_for_bit_what_one_gives_with_as_many_micro_batches(tmp_path, count):
    modes = [
        having(n_micro=count),
        having(n_micro=count, alpha="parameter_counts"),
        having(n_micro=count, sampling="shuffle", decay="linear", tau=0.1),
        having(n_micro=count, mode="paper", alpha="private_batch"),
        having(mode="per_example", z0=1e-9),
    ]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(gradient_in_process, (count, port, modes, str(tmp_path)), nprocs=count)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for number, mode in enumerate(modes):
            bench = bench_for(mode)
            gradient_of_step(bench, 3)
            for rank in range(count):
                theirs = torch.load(tmp_path / f"{number}-{rank}.pt")
                if (
                    mode.mode == "per_example"
                ):  # units are shared out: the same sum in another order, and noise by process
                    torch.testing.assert_close(bench.flat.vector, theirs, atol=1e-7, rtol=1e-5)
                else:
                    assert torch.equal(bench.flat.vector, theirs), (number, rank)
    finally:
        torch.set_num_threads(threads)


def test_passes_of_a_few_rows_add_up_to_the_step_of_one_pass():
    """Gradients are accumulated over passes: who is drawn, what is clipped and the one noise are those of the step."""
    whole, parts = (bench_for(having(mode="per_example", rows_at_once=rows)) for rows in (512, 3))
    for bench in (whole, parts):
        gradient_of_step(bench, 3)
    torch.testing.assert_close(whole.flat.vector, parts.flat.vector, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize(
    "mode",
    [
        having(),
        having(alpha="parameter_counts"),
        having(mode="paper"),
        having(sampling="shuffle", batch_size=8, n_micro=8),
    ],
)
def test_micro_batches_at_once_are_those_one_after_the_other(mode):
    """The same draw, each clipped by itself, to what single precision and the upper bounds of the norms differ by."""
    apart, at_once = (
        bench_for(TrainSettings(**{**mode.__dict__, "z0": 1e-9, "clip": 0.3, "micro_at_once": together}))
        for together in (False, True)
    )
    found = [gradient_of_step(bench, 2) for bench in (apart, at_once)]
    assert found[0].clipped_share == found[1].clipped_share > 0
    assert (apart.flat.vector - at_once.flat.vector).norm() < 2e-3 * apart.flat.vector.norm()


@pytest.mark.parametrize(
    "mode",
    [
        having(),
        having(micro_at_once=True),
        having(mode="per_example"),
        having(mode="paper"),
        having(mode="plain"),
        having(sampling="shuffle"),
    ],
)
def test_a_repeated_step_is_the_same_step_and_another_is_not(mode):
    bench = bench_for(mode)
    gradient_of_step(bench, 5)
    once = bench.flat.vector.clone()
    gradient_of_step(bench, 6)
    assert not torch.equal(once, bench.flat.vector)
    gradient_of_step(bench, 5)
    assert torch.equal(once, bench.flat.vector)


@pytest.mark.parametrize("alpha", ["ones", "parameter_counts"])
@pytest.mark.parametrize(
    ("mode", "at_once"), [("paper", False), ("paper", True), ("sound", False), ("sound", True), ("per_example", False)]
)
def test_the_noise_of_the_aggregate_is_the_stated_one(mode, at_once, alpha):
    """Sample deviations of thousands of normals: each check fails by chance less than once in 10^9 (6 sigma)."""
    chosen = having(mode=mode, alpha=alpha, z0=50.0, clip=2.0, micro_at_once=at_once)
    bench = bench_for(chosen)
    gradient_of_step(bench, 0)
    assert bench.plan.c == (1 if mode == "per_example" else 2)
    on_sum = {"paper": 2.0 * 50.0 * math.sqrt(4), "sound": 2 * 2.0 * 50.0, "per_example": 2.0 * 50.0}[mode]
    on_average = on_sum / (16 if mode == "per_example" else 4)
    for name, stretch in bench.flat.stretches.items():
        weight = bench.alphas[name] if alpha != "ones" and mode != "paper" else 1.0
        measured = stretch.std().item() / (on_average * weight)
        # the clipped signal itself adds at most 2 per micro-batch over all coordinates: less than a thousandth
        assert abs(measured - 1) < 6 / math.sqrt(2 * len(stretch)) + 0.01, name


def test_clipping_bounds_each_micro_batch_in_the_scaled_norm():
    for mode in (having(z0=1e-9), having(z0=1e-9, alpha="parameter_counts"), having(z0=1e-9, mode="per_example")):
        bench = bench_for(TrainSettings(**{**mode.__dict__, "clip": 0.1}))
        result = gradient_of_step(bench, 0)
        scales = bench.alphas or dict.fromkeys(bench.flat.names, 1.0)
        length = torch.stack([(s / scales[n]).norm() for n, s in bench.flat.stretches.items()]).norm()
        assert length <= 0.1 * 1.6 and result.clipped_share > 0.9  # a Poisson batch may exceed its average


def test_plain_training_takes_the_plain_gradient():
    bench = bench_for(having(mode="plain"))
    gradient_of_step(bench, 0)
    ours = bench.flat.vector.clone()
    batch = bench.batch_of(np.concatenate(bench.sampler.draw(0)))
    bench.flat.clear()
    bench.network(batch).mean().backward()
    assert torch.allclose(ours, bench.flat.vector, atol=1e-6)


def test_a_unit_of_several_rows_is_clipped_as_one():
    bench = bench_for(having(mode="per_example", z0=1e-9, batch_size=4, n_micro=1, rows_at_once=10, clip=0.5))
    bench.units = [list(range(0, 3)), [3], list(range(4, 11)), [11, 12]]
    bench.plan = make_plan(bench.plan.settings, 4, 1)
    bench.sampler = Sampler(SECRET, "shuffle", 4, 4, 1)
    gradient_of_step(bench, 0)
    ours = 4 * bench.flat.vector.clone()
    want = torch.zeros_like(ours)
    for unit in bench.units:
        bench.flat.clear()
        bench.network(bench.batch_of(np.array([bench.units.index(unit)]))).mean().backward()
        bench.flat.clip(0.5, None)
        want += bench.flat.vector
    assert torch.allclose(ours, want, atol=1e-5)


def test_alphas_have_length_one_and_a_release_is_noised():
    for source in ("parameter_counts", "noisy_release"):
        bench = bench_for(having(alpha=source, alpha_z=1.0))
        assert sum(alpha**2 for alpha in bench.alphas.values()) == pytest.approx(1.0, rel=1e-4)
    assert bench.alphas != bench_for(having(alpha="noisy_release", alpha_z=1.0), secret=b"another secret!!").alphas


@settings(max_examples=30)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(1, 8), st.integers(0, 500))
def test_shuffling_uses_each_unit_at_most_once_per_epoch_in_batches_of_fixed_size(n, size, micro, epoch):
    size = min(size, n)
    sampler = Sampler(SECRET, "shuffle", n, size, micro)
    drawn = [np.concatenate(sampler.draw(step)) for step in range(epoch * (n // size), (epoch + 1) * (n // size))]
    everyone = np.concatenate(drawn)
    assert len(set(everyone)) == len(everyone) and all(len(batch) == size for batch in drawn)


def test_poisson_sampling_is_a_coin_and_a_die_for_each_unit():
    """4000 steps: each check is a chi-squared test at 10^-6, seen once in 10^6 secrets; the secret is fixed."""
    n, steps = 50, 4000
    sampler = Sampler(SECRET, "poisson", n, 10, 4)
    counts, sizes, micros = np.zeros(n), [], np.zeros(4)
    for step in range(steps):
        drawn = sampler.draw(step)
        for units in drawn:
            counts[units] += 1
        sizes.append(sum(map(len, drawn)))
        micros += [len(units) for units in drawn]
    assert stats.chisquare(counts).pvalue > 1e-6 and stats.chisquare(micros).pvalue > 1e-6
    assert np.var(sizes) == pytest.approx(n * 0.2 * 0.8, rel=0.15)  # as a binomial varies: no batch is fixed
    assert np.mean(sizes) == pytest.approx(10, rel=0.03)


def drawn_by(source, step, part):
    return torch.cat([normals.clone() for _, normals in source.draw(step, part)])


def test_noise_is_normal_and_belongs_to_secret_step_and_device():
    """Kolmogorov-Smirnov at 10^-6 on a fixed secret."""
    source = NoiseSource(SECRET, 300_001, torch.device("cpu"))
    drawn = drawn_by(source, 1, 0)
    assert stats.kstest(drawn.numpy(), "norm").pvalue > 1e-6
    assert drawn.abs().max() > 4 and drawn.isfinite().all() and len(drawn) == 300_001
    assert abs(np.corrcoef(drawn[:150_000], drawn[150_000:300_000])[0, 1]) < 0.02
    assert torch.equal(drawn, drawn_by(source, 1, 0))
    others = [drawn_by(source, 2, 0), drawn_by(source, 1, 1)]
    others.append(drawn_by(NoiseSource(Secret(b"another secret!!"), 300_001, torch.device("cpu")), 1, 0))
    assert all(abs(np.corrcoef(drawn, other)[0, 1]) < 0.02 for other in others)
    assert len(drawn_by(NoiseSource(SECRET, 1, torch.device("cpu")), 0, 0)) == 1


def test_the_noise_decays_by_epoch_as_planned():
    plan = make_plan(having(decay="linear", tau=0.5, batch_size=16), 40, 1)
    assert plan.steps_per_epoch == 2
    assert [plan.z(step) for step in (0, 1, 2, 4)] == [1.0, 1.0, 1 / 1.5, 1 / 2.0]
    assert device_noise(plan, 2, 1) == pytest.approx(2 * 1.0 / 1.5 / 2)


def test_the_budget_is_known_before_and_held_to():
    plan = make_plan(having(z0=None, target_epsilon=3.0, epochs=2), 400, 1)
    report = plan.sound()
    assert 2.9 < report.epsilon <= 3.0 and report.sound
    assert plan.sound(steps=10).epsilon < report.epsilon
    with pytest.raises(RunError, match="budget"):
        plan.check_step(plan.steps)


def test_paper_and_sound_figures_stand_side_by_side():
    plan = make_plan(having(mode="paper", epochs=10, batch_size=64, n_micro=8, delta=1e-5), 4480, 1)
    assert plan.claimed().epsilon < plan.sound().epsilon / 5
    assert make_plan(having(mode="paper", alpha="private_batch"), 400, 1).sound() is None


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"z0": None}, "give z0, or target_epsilon"),
        ({"mode": "paper", "z0": None, "target_epsilon": 1.0}, "no bound"),
        ({"mode": "paper", "unit": "speaker"}, "sound or per_example"),
        ({"mode": "paper", "sampling": "poisson"}, "shuffles"),
        ({"alpha": "private_batch"}, "not private"),
        ({"alpha": "public"}, "public_data: missing"),
        ({"alpha": "noisy_release"}, "alpha_z: missing"),
        ({"sampling": "shuffle", "n_micro": 3}, "does not divide"),
        ({"n_micro": 17}, "n_micro"),
        ({"mode": "per_example", "micro_at_once": True}, "micro_at_once"),
        ({"clip": 0.0}, "clip"),
    ],
)
def test_settings_that_could_not_be_sound_are_refused_with_the_reason(changes, word):
    with pytest.raises(SettingsError, match=word):
        having(**changes)


@pytest.mark.parametrize("mode", ["per_example", "plain"])
def test_modes_without_micro_batches_do_not_ask_for_them(mode):
    assert make_plan(having(mode=mode, batch_size=3, n_micro=8, sampling="shuffle"), 10, 3).steps_per_epoch == 3


@pytest.mark.parametrize("unit", ["speaker", "example"])
def test_a_figure_says_whom_it_is_for(unit):
    said = " ".join(make_plan(having(mode="per_example", unit=unit, epochs=1), 40, 1).sound().assumptions)
    other = {"speaker": "example", "example": "speaker"}[unit]
    assert f"one {unit} more or less" in said and f"the number of {unit}s, 40" in said and other not in said


@pytest.mark.parametrize(
    ("changes", "n", "processes", "word"),
    [
        ({}, 0, 1, "no examples"),
        ({}, 3, 4, "3 examples for 4 processes"),
        ({}, 3, 1, "fewer than 4 micro-batches"),
        ({}, 10, 1, "more than the 10 examples"),
        ({}, 40, 3, "evenly over 3 processes"),
        ({"delta": 0.025}, 40, 1, "not below 1/n"),
        ({"delta": 1e-4, "target_epsilon": 0.01}, 40, 1, "would spend"),
        ({"adjacency": "replace_one"}, 40, 1, "add_remove or zero_out"),
    ],
)
def test_a_plan_that_does_not_fit_the_data_is_refused(changes, n, processes, word):
    with pytest.raises(SettingsError, match=word):
        make_plan(having(**changes), n, processes).sound()
