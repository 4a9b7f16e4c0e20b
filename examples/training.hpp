#pragma once

#include "progress.hpp"

#include <inlay/batch/loader.hpp>
#include <inlay/model/auc.hpp>
#include <inlay/model/log_loss.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Scores and labels of samples that a model was not trained on.
struct scored {
  std::vector<float> logits;
  std::vector<float> labels;
};

/// Whether training says how far it is.
enum class talk { progress, nothing };

/// Trains until `samples` end or `last_step` steps are done; returns the seconds that took.
template <class Trainer, class Network>
double train(Trainer& trainer, Network& network, inlay::loader& samples, std::uint64_t last_step,
             talk aloud = talk::progress) {
  trainer.attach(network.parameters(), network.gradients());
  std::vector<typename Network::workspace> workspaces;
  workspaces.reserve(trainer.exec().threads());
  for (std::size_t worker = 0; worker < trainer.exec().threads(); ++worker) {
    workspaces.push_back(network.make_workspace());
  }
  std::vector<inlay::log_loss> losses(workspaces.size());
  auto const mean_loss = [&] {
    double sum = 0;
    double weight = 0;
    for (auto& loss : losses) {
      auto const seen = loss.take();
      sum += seen.sum;
      weight += seen.weight;
    }
    return sum / weight;
  };

  auto const batch = trainer.facts().batch;
  auto const all = last_step > samples.size() / batch ? samples.size() : last_step * batch;
  progress shown(all);
  std::uint64_t done = 0;
  while (done < all) {
    auto step = trainer.next(samples);
    if (!step) break;
    step->each_chunk([&](auto chunk, std::size_t worker) {
      auto& workspace = workspaces[worker];
      auto const logits = network.forward(chunk.pooled(), chunk.dense(), workspace);
      auto const loss = losses[worker](logits, chunk.labels());
      chunk.backward(network.backward(loss, workspace), workspace.gradients());
    });
    trainer.finish(std::move(*step));
    done = std::min(done + batch, all);
    if (aloud == talk::progress) shown.at(done, mean_loss);
  }
  return shown.seconds();
}

/// Scores every sample of a loader, changing nothing in the trainer.
template <class Trainer, class Network>
scored score(Trainer& trainer, Network& network, inlay::loader& samples) {
  constexpr std::uint64_t rows = 4096;
  scored result;
  for (std::uint64_t first = 0; first < samples.size(); first += rows) {
    auto const batch =
        trainer.lookup(samples.read({first, std::min(first + rows, samples.size())}));
    auto const logits = network.forward(batch.pooled, batch.dense);
    result.logits.insert(result.logits.end(), logits.begin(), logits.end());
    result.labels.insert(result.labels.end(), batch.labels.values.begin(),
                         batch.labels.values.end());
  }
  return result;
}
