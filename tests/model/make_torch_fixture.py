#!/usr/bin/env python3
"""Writes torch_fixture.hpp beside this file: one forward and backward of small networks by PyTorch.

Inputs and weights are floats; PyTorch computes everything else from them in float64. What is there
was written with torch 2.14.1 (CPU); another version may draw other inputs, which will do as well.
"""
import pathlib

import torch

torch.manual_seed(1)
rows, fields, dim, dense_width = 6, 3, 4, 3


def floats(*shape, scale=1.0):
    return (scale * torch.randn(*shape)).float().double().requires_grad_()


def layers(inputs, widths):
    """W and b of each layer, as `mlp` has them."""
    tensors = []
    for outputs in widths:
        tensors += [floats(inputs, outputs, scale=(2 / inputs) ** 0.5)]
        tensors += [floats(1, outputs, scale=0.1)]
        inputs = outputs
    return tensors


def forward(x, tensors):
    for weights, biases in zip(tensors[::2], tensors[1::2]):
        x = x @ weights + biases
        # A float that lies on the other side of the bend would have another gradient.
        assert x.abs().min() > 1e-3, "draw again"
        x = torch.relu(x)
    return x


def deepfm(pooled, dense):
    hidden, output = layers(fields * (dim - 1) + dense_width, [6, 5]), floats(5, 1)
    bias, linear = floats(1, 1), floats(dense_width, 1)
    w, v = pooled[:, :, 0], pooled[:, :, 1:]
    pairs = sum((v[:, f] * v[:, g]).sum(1) for f in range(fields) for g in range(f))
    deep = forward(torch.cat([v.flatten(1), dense], 1), hidden)
    logits = bias[0] + (dense @ linear)[:, 0] + w.sum(1) + pairs + (deep @ output)[:, 0]
    return logits, [bias, *hidden, output, linear]


def dlrm(pooled, dense):
    bottom, top = layers(dense_width, [5, dim]), layers(dim + fields * (fields + 1) // 2, [6, 5])
    bias, output = floats(1, 1), floats(5, 1)
    z = forward(dense, bottom)
    vectors = torch.cat([pooled, z[:, None]], 1)
    products = vectors @ vectors.transpose(1, 2)
    below = torch.tril_indices(fields + 1, fields + 1, offset=-1)
    deep = forward(torch.cat([z, products[:, below[0], below[1]]], 1), top)
    return bias[0] + (deep @ output)[:, 0], [bias, *top, output, *bottom]


def values(name, tensors, digits=12):
    flat = torch.cat([tensor.detach().flatten() for tensor in tensors]).tolist()
    suffix = "F" if digits == 9 else ""  # as many digits as tell floats apart
    return f"  .{name} = {{{', '.join(f'{value:#.{digits}g}{suffix}' for value in flat)}}},\n"


def case(network):
    pooled, dense = floats(rows, fields, dim), floats(rows, dense_width)
    labels = torch.tensor([0, 1, 1, 0, 0.25, 1]).double()
    weights = torch.tensor([1, 1, 2, 0.5, 1, 0]).double()
    logits, parameters = network(pooled, dense)
    loss = torch.nn.BCEWithLogitsLoss(weights, reduction="sum")(logits, labels)
    loss.backward()
    assert pooled.grad[:-1].abs().amax((1, 2)).min() > 1e-3, "draw again"
    return (
        f"inline torch_case const torch_{network.__name__}{{\n"
        + "".join(values(name, [tensor], 9) for name, tensor in
                  dict(pooled=pooled, dense=dense, labels=labels, weights=weights).items())
        + values("parameters", parameters, 9)
        + values("logits", [logits])
        + f"  .loss = {loss.item():.12g},\n"
        + values("pooled_gradients", [pooled.grad])
        + values("parameter_gradients", [tensor.grad for tensor in parameters])
        + "};\n"
    )


text = f"""#pragma once

// Made by make_torch_fixture.py with torch {torch.__version__.split('+')[0]}.

#include <vector>

// clang-format off

/// What PyTorch says of a network; all tensors one behind the other.
struct torch_case {{
  std::vector<float> pooled;      // (rows, {fields} x {dim})
  std::vector<float> dense;       // (rows, {dense_width})
  std::vector<float> labels;      // (rows)
  std::vector<float> weights;     // (rows)
  std::vector<float> parameters;
  std::vector<double> logits;     // (rows)
  double loss;                    // summed over rows
  std::vector<double> pooled_gradients;
  std::vector<double> parameter_gradients;
}};

{case(deepfm)}
{case(dlrm)}"""
pathlib.Path(__file__).with_name("torch_fixture.hpp").write_text(text)
