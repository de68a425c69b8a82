"""Sentences, labels and models small enough to train in a second."""

import itertools
import json
import random

from sottovoce.models.records import Source
from sottovoce.models.training.batches import encode
from sottovoce.models.training.examples import Example, labels_of
from sottovoce.models.training.networks.bert import Bert
from sottovoce.models.training.networks.clc import Clc

TINY = {
    "clc": Clc(hidden=8, word_size=8, buckets=64, filters=4, character_size=4),
    "bert": Bert(layers=2, hidden=16, heads=2, feed_forward=24, buckets=64, dropout=0.0),
}
INTENTS = {"play": "artist", "book": "city", "wake": "time"}
VALUES = {"artist": ["abba", "nick cave", "sade"], "city": ["rome", "new york", "oslo"], "time": ["noon", "six thirty"]}


def sentences(count, seed=0, speakers=0):
    """Rows as the reader finds them: an intent told by its first word, and one slot."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        intent = draw.choice(sorted(INTENTS))
        slot = INTENTS[intent]
        before = draw.sample(["please", "now", "me", "the", "a"], draw.randint(0, 3))
        value = draw.choice(VALUES[slot]).split()
        row = {
            "tokens": [intent, *before, *value],
            "tags": ["O"] * (1 + len(before)) + [f"{'BI'[i > 0]}-{slot}" for i in range(len(value))],
            "intent": intent,
        }
        rows.append(row | ({"speaker": f"s{number % speakers}"} if speakers else {}))
    return rows


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def tiny(name, count=12, seed=0):
    """(network, encoded rows, labels) of a tiny model."""
    rows = sentences(max(count, 40), seed)
    every = [Example(tuple(r["tokens"]), tuple(r["tags"]), r["intent"], Source("tiny", 1)) for r in rows]
    labels = labels_of(every)
    return TINY[name].network(labels), encode(every[:count], TINY[name].encoder(), labels), labels


def bench_for(settings, name="clc", count=40, rank=0, processes=1, secret=b"a secret of this test"):
    """A workbench over tiny sentences; the same weights for every caller."""
    import torch

    from sottovoce.models.randomness import Secret
    from sottovoce.models.training.loop.processes import Processes
    from sottovoce.models.training.privacy.alpha import measure_alphas
    from sottovoce.models.training.privacy.edp import Workbench
    from sottovoce.models.training.privacy.flat import FlatGradients
    from sottovoce.models.training.privacy.noise import NoiseSource
    from sottovoce.models.training.privacy.plan import make_plan
    from sottovoce.models.training.privacy.sampling import Sampler
    from sottovoce.models.training.tasks.slu import Understanding

    torch.manual_seed(0)
    network, rows, _ = tiny(name, count)
    plan, key, flat = make_plan(settings, len(rows), processes), Secret(secret), FlatGradients(network)
    cpu = torch.device("cpu")
    bench = Workbench(
        network=network,
        task=Understanding(),
        rows=rows,
        units=[[row] for row in range(len(rows))],
        plan=plan,
        sampler=Sampler(key, settings.drawn_by, len(rows), settings.batch_size, settings.n_micro),
        key=key,
        processes=Processes(rank, processes, cpu),
        flat=flat,
        noise=NoiseSource(key, len(flat.vector), cpu),
    )
    bench.alphas = measure_alphas(bench)
    return bench


def gradient_in_process(rank, processes, port, settings_list, folder):
    """Of `processes` over gloo: save the gradient of one step for each of the settings."""
    import os

    import torch

    from sottovoce.models.training.loop.processes import join
    from sottovoce.models.training.privacy.edp import gradient_of_step

    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(processes), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    ours = join("cpu")
    for number, settings in enumerate(settings_list):
        bench = bench_for(settings, rank=rank, processes=processes)
        gradient_of_step(bench, 3)
        torch.save(bench.flat.vector, f"{folder}/{number}-{rank}.pt")
    ours.leave()


def die_at_step(argv, fatal):
    """In a process of its own: kill -9 in the middle of an epoch."""
    import os
    import signal

    import torch

    from sottovoce.pipelines.cli import main
    from sottovoce.pipelines.training import train_model

    torch.set_num_threads(1)

    class Deadly(train_model.Curves):
        def step(self, step, result, seconds):
            super().step(step, result, seconds)
            if step == fatal:
                os.kill(os.getpid(), signal.SIGKILL)

    train_model.Curves = Deadly
    main(argv)


def tiny_rows(task, count=24, seed=0):
    """Rows of the sink of a task, as the reader finds them."""
    draw = random.Random(seed)
    if task == "lm":
        return [
            {"text": " ".join(row["tokens"]), "speaker": f"s{n % 6}"} for n, row in enumerate(sentences(count, seed))
        ]
    if task == "dm":
        dialogues = []
        for _ in range(count):
            rows = sentences(draw.randint(3, 5), draw.randint(0, 999))
            for before, row in itertools.pairwise(rows):
                row["intent"] = f"after {before['tokens'][0]}"  # what is said tells what follows
            dialogues.append({"turns": [{"text": " ".join(row["tokens"]), "intent": row["intent"]} for row in rows]})
        return dialogues
    return sentences(count, seed)


def tiny_of(task_name, member, count=12, **settings):
    """(task, network, encoded rows, examples, schema) of a tiny model of any task."""
    from sottovoce.models.training.tasks import task_of
    from sottovoce.models.training.train_settings import TrainSettings

    task = task_of(task_name)
    rows = tiny_rows(task_name, max(count, 24))
    examples = task.read((Source("tiny", line), row) for line, row in enumerate(rows, 1)).examples
    schema = task.schema(examples, TrainSettings(task=task_name, z0=1.0, **settings))
    return task, member.network(schema), task.encode(examples[:count], member, schema), examples[:count], schema
