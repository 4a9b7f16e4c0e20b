"""Embeddings without a network in FBGEMM and PyTorch, each as fast as it goes."""

from concurrent.futures import ThreadPoolExecutor

import fbgemm_gpu  # noqa: F401  (registers the operators)
import numpy
import torch
from fbgemm_gpu.split_embedding_configs import EmbOptimType
from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
    BoundsCheckMode, ComputeDevice, EmbeddingLocation, SplitTableBatchedEmbeddingBagsCodegen)

RATE = 0.01
EPSILON = 1e-8


class Ids:
    """Row numbers of batches of one id a bag, and the rows of each table."""

    def __init__(self, ids, table_rows):
        """ids (batches, fields, rows)"""
        self.ids = ids
        self.table_rows = table_rows
        self.firsts = numpy.concatenate([[0], numpy.cumsum(table_rows)])  # of all tables as one
        self.batches, self.fields, self.rows = ids.shape

    def tables(self, weights):
        """A table of all rows, cut into the tables."""
        return [weights[first:last] for first, last in zip(self.firsts[:-1], self.firsts[1:])]


class Fbgemm:
    """Table-batched embeddings with the optimizer fused into backward.

    The tables may be dealt to several TBEs, each called by a thread of Python's: an operator of
    theirs lets other threads run.
    """

    is_row_wise = True

    def __init__(self, ids, weights, gradient, shares=1):
        self.name = "FBGEMM" if shares == 1 else f"FBGEMM, {shares} TBEs"
        dim = weights.shape[1]
        self._pool = ThreadPoolExecutor(shares)
        self._shares = [self._Share(ids, range(ids.fields)[share::shares], dim, gradient)
                        for share in range(shares)]
        for share in self._shares:
            share.fill(ids.tables(weights))

    class _Share:
        """One TBE and what it reads in each batch."""

        def __init__(self, ids, fields, dim, gradient):
            self.fields = fields
            self.tables = SplitTableBatchedEmbeddingBagsCodegen(
                [(int(ids.table_rows[f]), dim, EmbeddingLocation.HOST, ComputeDevice.CPU)
                 for f in fields],
                optimizer=EmbOptimType.EXACT_ROWWISE_ADAGRAD, learning_rate=RATE, eps=EPSILON,
                stochastic_rounding=False, bounds_check_mode=BoundsCheckMode.NONE)
            of_fields = numpy.ascontiguousarray(ids.ids[:, list(fields)], numpy.int32)
            self.ids = torch.from_numpy(of_fields).flatten(1)  # (batches, fields * rows)
            self.offsets = torch.arange(len(fields) * ids.rows + 1, dtype=torch.int32)
            columns = gradient.view(ids.rows, ids.fields, dim)[:, list(fields)]
            self.gradient = columns.reshape(ids.rows, -1).contiguous()

        def fill(self, tables):
            for f, own in zip(self.fields, self.tables.split_embedding_weights()):
                own.data.copy_(torch.from_numpy(tables[f]))

        def step(self, batch):
            self.tables(self.ids[batch], self.offsets).backward(self.gradient)

    def step(self, batch):
        if len(self._shares) == 1:
            self._shares[0].step(batch)
        else:
            list(self._pool.map(lambda share: share.step(batch), self._shares))

    def weights(self):
        """All rows, table after table."""
        tables = {}
        for share in self._shares:
            tables.update(zip(share.fields, share.tables.split_embedding_weights()))
        return torch.cat([tables[f] for f in sorted(tables)]).numpy()


class RowwiseAdagrad(torch.optim.Optimizer):
    """What torch.optim lacks: Adagrad with one accumulator a row, for sparse gradients."""

    def __init__(self, parameters, lr, eps):
        super().__init__(parameters, {"lr": lr, "eps": eps})
        for group in self.param_groups:
            for table in group["params"]:
                self.state[table] = torch.zeros(table.shape[0])

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for table in group["params"]:
                gradient = table.grad.coalesce()
                rows, values = gradient.indices()[0], gradient.values()
                sums = self.state[table]
                sums.index_add_(0, rows, values.square().mean(1))
                rates = -group["lr"] / (sums[rows].sqrt_().add_(group["eps"]))
                table.index_add_(0, rows, values.mul_(rates[:, None]))


OPTIMIZERS = {
    "row-wise Adagrad": lambda tables: RowwiseAdagrad(tables, lr=RATE, eps=EPSILON),
    "Adagrad": lambda tables: torch.optim.Adagrad(tables, lr=RATE, eps=EPSILON),
    "SparseAdam": lambda tables: torch.optim.SparseAdam(tables, lr=RATE),
    "SGD": lambda tables: torch.optim.SGD(tables, lr=RATE),
}


class TorchTables:
    """An EmbeddingBag for each table; their pooled rows side by side."""

    layout = "a bag a table"

    def __init__(self, ids, weights, gradient, optimizer):
        self.name = f"PyTorch {optimizer}, {self.layout}"
        self.is_row_wise = optimizer == "row-wise Adagrad"
        self._bags = [torch.nn.EmbeddingBag.from_pretrained(
            torch.from_numpy(table.copy()), freeze=False, mode="sum", sparse=True)
            for table in ids.tables(weights)]
        self._optimizer = OPTIMIZERS[optimizer]([bag.weight for bag in self._bags])
        self._ids = torch.from_numpy(ids.ids)
        self._offsets = torch.arange(ids.rows)
        self._gradient = gradient

    def step(self, batch):
        pooled = torch.cat([bag(ids, self._offsets)
                            for bag, ids in zip(self._bags, self._ids[batch])], 1)
        pooled.backward(self._gradient)
        self._optimizer.step()
        self._optimizer.zero_grad()

    def weights(self):
        """All rows, table after table."""
        return torch.cat([bag.weight.detach() for bag in self._bags]).numpy()


class TorchTable:
    """One EmbeddingBag for all tables, which lie in it one after the other."""

    layout = "one bag"

    def __init__(self, ids, weights, gradient, optimizer):
        self.name = f"PyTorch {optimizer}, {self.layout}"
        self.is_row_wise = optimizer == "row-wise Adagrad"
        self._bag = torch.nn.EmbeddingBag.from_pretrained(
            torch.from_numpy(weights.copy()), freeze=False, mode="sum", sparse=True)
        self._optimizer = OPTIMIZERS[optimizer]([self._bag.weight])
        places = ids.ids + ids.firsts[:-1, None]
        by_sample = numpy.ascontiguousarray(places.transpose(0, 2, 1))
        self._ids = torch.from_numpy(by_sample).flatten(1)  # (batches, rows * fields)
        self._offsets = torch.arange(ids.rows * ids.fields)
        self._gradient = gradient

    def step(self, batch):
        pooled = self._bag(self._ids[batch], self._offsets).view_as(self._gradient)
        pooled.backward(self._gradient)
        self._optimizer.step()
        self._optimizer.zero_grad()

    def weights(self):
        """All rows, table after table."""
        return self._bag.weight.detach().numpy()
