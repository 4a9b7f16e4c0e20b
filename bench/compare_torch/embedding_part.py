"""The part without a network: rounds of inlay, FBGEMM and PyTorch on the same ids."""

import statistics

import numpy
import torch

import report
from opponents import EPSILON, OPTIMIZERS, RATE, Fbgemm, Ids, TorchTable, TorchTables
from peer import timed
from quiet import rest

BLOCK = 4  # steps of a side in a round
STAGES = ["map", "bring", "pool", "network", "update"]


class Inlay:
    """An engine of the peer's that trains on raw ids, or on the row numbers of the others."""

    def __init__(self, peer, kind, dim, threads, gradient_file):
        self.name = f"inlay, {kind} ids"
        self._peer = peer
        self._key = f"inlay_{kind}"
        peer.ask("embedding", self._key, dim, threads, kind, RATE, EPSILON, gradient_file)

    def steps(self, first, count):
        return self._peer.steps(self._key, first, count)

    def weights(self, dim):
        return self._peer.values("rows", self._key).reshape(-1, dim)

    def close(self):
        self._peer.ask("drop", self._key)


class Here:
    """An opponent, which runs in this process, as rounds see it."""

    def __init__(self, opponent, batches):
        self.name = opponent.name
        self.is_row_wise = opponent.is_row_wise
        self._opponent = opponent
        self._batches = batches

    def steps(self, first, count):
        def work():
            for at in range(first, first + count):
                self._opponent.step(at % self._batches)
        return timed(work)

    def weights(self, _dim):
        return self._opponent.weights()


def read_ids(peer, chosen):
    """Has the peer make batches, and reads what it wrote."""
    peer.ask("ids", peer.folder, chosen.rows, chosen.batches, 1)
    table_rows = peer.read("table_rows.i64", numpy.int64)
    ids = peer.read("ids.i64", numpy.int64)
    return Ids(ids.reshape(chosen.batches, len(table_rows), chosen.rows), table_rows)


def try_torch(ids, initial, gradient, patience):
    """Milliseconds a step, at best, of all ways to write it in PyTorch: by (class, optimizer)."""
    sides = {(kind, optimizer): Here(kind(ids, initial, gradient, optimizer), ids.batches)
             for kind in (TorchTable, TorchTables) for optimizer in OPTIMIZERS}
    taken = play(list(sides.values()), rounds=4, block=1, patience=patience)
    return {way: 1e3 * min(seen["seconds"] for seen in taken[side.name][1:])
            for way, side in sides.items()}


def make_others(ids, initial, gradient, threads, tried):
    """FBGEMM, and for each Adagrad the faster way to write it in PyTorch."""
    others = [Fbgemm(ids, initial, gradient, shares) for shares in sorted({1, threads})]
    for optimizer in ("Adagrad", "row-wise Adagrad"):
        kind = min((TorchTable, TorchTables), key=lambda kind: tried[kind, optimizer])
        others.append(kind(ids, initial, gradient, optimizer))
    return [Here(other, ids.batches) for other in others]


def play(sides, rounds, block, patience):
    """Rounds of `block` steps a side: what each side took for a step, by side."""
    taken = {side.name: [] for side in sides}
    for number in range(rounds):
        patience.wait()
        turn = number % len(sides)
        for side in sides[turn:] + sides[:turn]:
            rest()
            seen = side.steps(number * block, block)
            taken[side.name].append({kind: value / block for kind, value in seen.items()})
    return taken


def differences(sides, initial):
    """How far rows are from the first side's, in shares of the longest way that one went."""
    dim = initial.shape[1]
    ours = sides[0].weights(dim)
    moved = float(numpy.abs(ours - initial).max())
    return {side.name: float(numpy.abs(side.weights(dim) - ours).max()) / moved
            for side in sides[1:]}


def compare(peer, ids, dim, threads, chosen, patience):
    """One pair of dim and threads."""
    torch.set_num_threads(threads)
    gradient = numpy.random.default_rng(dim).standard_normal((ids.rows, ids.fields * dim))
    gradient = gradient.astype(numpy.float32)
    gradient_file = peer.folder / "gradient"
    gradient.tofile(gradient_file)
    raw = Inlay(peer, "raw", dim, threads, gradient_file)
    dense = Inlay(peer, "dense", dim, threads, gradient_file)
    initial = raw.weights(dim)
    of_mean = torch.from_numpy(gradient / ids.rows)  # inlay divides by the batch itself

    tried = try_torch(ids, initial, of_mean, patience)
    others = make_others(ids, initial, of_mean, threads, tried)
    sides = [raw, dense, *others]
    for side in sides:
        side.steps(0, ids.batches)
    apart = differences([raw, *(side for side in others if side.is_row_wise)], initial)
    taken = play(sides, chosen.rounds, BLOCK, patience)
    raw.close()
    dense.close()
    return summary(dim, threads, taken, tried, apart)


def summary(dim, threads, taken, tried, apart):
    """The figures of one pair of dim and threads."""
    ours = taken["inlay, raw ids"]

    def median_ms(name, kind):
        return 1e3 * statistics.median(seen[kind] for seen in taken[name])

    def ratio(name, kind):
        return statistics.median(other[kind] / own[kind] for other, own in zip(taken[name], ours))

    return {
        "dim": dim,
        "threads": threads,
        "ms": {name: median_ms(name, "seconds") for name in taken},
        "ratio": {name: ratio(name, "seconds") for name in taken},
        "cpu_ratio": {name: ratio(name, "cpu") for name in taken},
        "stage_ms": {stage: median_ms("inlay, raw ids", stage) for stage in STAGES},
        "torch_tried_ms": {f"{kind.layout}, {optimizer}": ms
                           for (kind, optimizer), ms in tried.items()},
        "apart": apart,
        "rounds": taken,
        "equal": all(share < report.ROWS_TOLERANCE for share in apart.values()),
    }


def run(peer, chosen, patience):
    """All pairs of dim and threads; prints each as it is there."""
    ids = read_ids(peer, chosen)
    print(f"\n{chosen.batches} batches of {ids.rows} samples x {ids.fields} fields, "
          f"{ids.table_rows.sum():,} rows in tables")
    results = []
    for dim in chosen.dims:
        for threads in chosen.threads:
            results.append(compare(peer, ids, dim, threads, chosen, patience))
            report.show_embedding(results[-1])
    report.show_embeddings(results)
    return results
