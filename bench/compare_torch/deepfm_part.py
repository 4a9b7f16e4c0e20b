"""The part with a network: DeepFM in inlay and PyTorch from the same weights, in turns."""

import json
import statistics
import subprocess

import numpy
import torch

import report
from peer import timed
from quiet import rest

DIM = 16
HIDDEN = [64, 32]
RATE = 0.1
EPSILON = 1e-8
ACCUMULATOR = 0.01
SEGMENTS = 12  # of a training: a side's turn
SOON = 8  # steps, after which logits are compared
STAGES = ["load", "map", "bring", "pool", "network", "update", "dense"]


class Clicks:
    """Samples of one half, in the order in which they are met."""

    def __init__(self, peer, half, firsts):
        """firsts: where each field's table begins in the one that holds all."""
        self.labels = torch.from_numpy(peer.read(f"{half}_labels.f32", numpy.float32))
        count = len(self.labels)
        ids = peer.read(f"{half}_ids.i64", numpy.int64).reshape(count, -1) + firsts
        self.ids = torch.from_numpy(ids)  # (samples, fields)
        dense = peer.read(f"{half}_dense.f32", numpy.float32).reshape(count, -1)
        self.dense = torch.from_numpy(dense)

    def batches(self, size):
        """(ids, dense, labels) of each batch."""
        return list(zip(self.ids.split(size), self.dense.split(size), self.labels.split(size)))


class DeepFM(torch.nn.Module):
    """The network of inlay/model/deepfm.hpp: column 0 of an embedding is its linear weight."""

    def __init__(self, rows, fields, dense_width):
        super().__init__()
        self.embedding = torch.nn.EmbeddingBag(rows, DIM, mode="sum", sparse=True)
        self.bias = torch.nn.Parameter(torch.zeros(1))
        layers = []
        width = fields * (DIM - 1) + dense_width
        for units in HIDDEN:
            layers += [torch.nn.Linear(width, units), torch.nn.ReLU()]
            width = units
        self.deep = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1, bias=False))
        self.dense = torch.nn.Linear(dense_width, 1, bias=False)

    def forward(self, ids, dense):
        vectors = self.embedding(ids.view(-1, 1)).view(*ids.shape, DIM)
        factors = vectors[:, :, 1:]
        pairs = 0.5 * (factors.sum(1).square() - factors.square().sum(1)).sum(1)
        deep = self.deep(torch.cat([factors.flatten(1), dense], 1))
        return self.bias + vectors[:, :, 0].sum(1) + pairs + (deep + self.dense(dense)).squeeze(1)

    @torch.no_grad()
    def take(self, rows, parameters):
        """Weights as inlay writes them: matrices (inputs, outputs), in the order of its tensors."""
        self.embedding.weight.copy_(torch.from_numpy(rows).view(-1, DIM))
        rest = torch.from_numpy(parameters)
        linear = [layer for layer in self.deep if isinstance(layer, torch.nn.Linear)]
        targets = [self.bias]
        for layer in [*linear, self.dense]:
            targets += [layer.weight.T] + ([] if layer.bias is None else [layer.bias])
        for target in targets:
            target.copy_(rest[:target.numel()].view_as(target))
            rest = rest[target.numel():]
        assert rest.numel() == 0, "the networks have not the same parameters"


class Torch:
    """PyTorch's side: sparse and dense parameters with the same Adagrad."""

    def __init__(self, network, train, test, batch):
        self._network = network
        self._train = train.batches(batch)
        self._test = test.batches(4096)
        sparse = list(network.embedding.parameters())
        dense = [each for name, each in network.named_parameters() if "embedding" not in name]
        settings = {"lr": RATE, "eps": EPSILON, "initial_accumulator_value": ACCUMULATOR}
        self._optimizers = [torch.optim.Adagrad(sparse, **settings),
                            torch.optim.Adagrad(dense, **settings, fused=True)]
        self._loss = torch.nn.BCEWithLogitsLoss()

    def steps(self, first, count):
        def work():
            for ids, dense, labels in self._train[first:first + count]:
                loss = self._loss(self._network(ids, dense), labels)
                loss.backward()
                for optimizer in self._optimizers:
                    optimizer.step()
                    optimizer.zero_grad()
        return timed(work)

    @torch.no_grad()
    def logits(self):
        return torch.cat([self._network(ids, dense) for ids, dense, _ in self._test]).numpy()


class Inlay:
    """inlay's side, an engine of the peer's."""

    def __init__(self, peer, threads):
        self._peer = peer
        peer.ask("deepfm", "deepfm", threads)

    def steps(self, first, count):
        return self._peer.steps("deepfm", first, count)

    def logits(self):
        return self._peer.values("logits", "deepfm")

    def weights(self):
        """Rows, and parameters of the network."""
        return self._peer.values("rows", "deepfm"), self._peer.values("parameters", "deepfm")


def auc(logits, labels):
    """Area under the ROC curve; a tie counts half."""
    _, place, counts = numpy.unique(logits, return_inverse=True, return_counts=True)
    ranks = (numpy.cumsum(counts) - (counts - 1) / 2)[place]
    positives = int(labels.sum())
    negatives = len(labels) - positives
    return (ranks[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives)


def play(sides, steps, patience):
    """Trains both in turns of segments; what each segment took, by side."""
    cuts = numpy.linspace(SOON, steps, SEGMENTS + 1).astype(int)
    taken = [[], []]
    for number, (first, last) in enumerate(zip(cuts[:-1], cuts[1:])):
        patience.wait()
        for at in (0, 1) if number % 2 == 0 else (1, 0):
            rest()
            taken[at].append(sides[at].steps(first, last - first))
    return taken


def apart(sides):
    """The greatest difference of logits."""
    ours, theirs = (side.logits() for side in sides)
    return float(numpy.abs(ours - theirs).max())


def train(peer, chosen, batch, threads, seed, patience):
    """One training on both sides."""
    peer.ask("clicks", peer.folder, chosen.clicks, chosen.epochs, batch, seed)
    table_rows = peer.read("table_rows.i64", numpy.int64)
    firsts = numpy.concatenate([[0], numpy.cumsum(table_rows)])
    halves = [Clicks(peer, half, firsts[:-1]) for half in ("train", "test")]
    inlay = Inlay(peer, threads)
    network = DeepFM(int(firsts[-1]), len(table_rows), halves[0].dense.shape[1])
    network.take(*inlay.weights())
    sides = [inlay, Torch(network, *halves, batch)]
    before = apart(sides)
    for side in sides:
        side.steps(0, SOON)
    soon = apart(sides)
    samples = len(halves[0].labels)
    ours, theirs = play(sides, -(-samples // batch), patience)
    labels = halves[1].labels.numpy()
    seen = {
        "seed": seed,
        "logits_apart_before": before,
        "logits_apart_soon": soon,
        "inlay_rate": rate(ours, samples - SOON * batch),
        "torch_rate": rate(theirs, samples - SOON * batch),
        "ratios": [other["seconds"] / own["seconds"] for other, own in zip(theirs, ours)],
        "cpu_ratios": [other["cpu"] / own["cpu"] for other, own in zip(theirs, ours)],
        "inlay_auc": auc(sides[0].logits(), labels),
        "torch_auc": auc(sides[1].logits(), labels),
        "stage_ms": {stage: 1e3 * sum(each[stage] for each in ours) * batch / samples
                     for stage in STAGES},
    }
    seen["ratio"] = statistics.median(seen["ratios"])
    report.show_training(seen)
    return seen


def rate(taken, samples):
    """Samples a second."""
    return samples / sum(each["seconds"] for each in taken)


def train_ctr(peer, chosen, batch, threads, seed):
    """The whole program's samples a second, reading included, and its AUC; where it was built."""
    program = chosen.peer.parent.parent / "examples" / "train_ctr"
    if not program.exists():
        return None
    file = peer.folder / "train_ctr.json"
    options = {"batch": batch, "threads": threads, "seed": seed, "rows": chosen.clicks,
               "epochs": chosen.epochs, "report": file}
    command = [str(program), *(f"--{name}={value}" for name, value in options.items())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(file.read_text())


def summary(batch, threads, seeds, program):
    """The figures of one pair of batch and threads."""
    auc_difference = statistics.mean(seen["inlay_auc"] - seen["torch_auc"] for seen in seeds)

    def median(key):
        return statistics.median(ratio for seen in seeds for ratio in seen[key])

    return {
        "batch": batch,
        "threads": threads,
        "ratio": median("ratios"),
        "cpu_ratio": median("cpu_ratios"),
        "auc_difference": auc_difference,
        "stage_ms": seeds[0]["stage_ms"],
        "train_ctr_rate": f"{program['samples_per_s']:,.0f}" if program else "not built",
        "train_ctr_auc": program["test_auc"] if program else None,
        "seeds": seeds,
        "equal": all(seen["logits_apart_before"] < 1e-4 and seen["logits_apart_soon"] < 1e-2
                     for seen in seeds),
    }


def run(peer, chosen, patience):
    """All pairs of batch and threads; prints each seed as it is there."""
    results = []
    for batch in chosen.deepfm_batches:
        for threads in chosen.threads:
            torch.set_num_threads(threads)
            print(f"\ndeepfm, batch {batch}, {threads} threads")
            seeds = [train(peer, chosen, batch, threads, seed, patience)
                     for seed in chosen.seeds]
            program = train_ctr(peer, chosen, batch, threads, chosen.seeds[0])
            results.append(summary(batch, threads, seeds, program))
    report.show_trainings(results)
    return results
