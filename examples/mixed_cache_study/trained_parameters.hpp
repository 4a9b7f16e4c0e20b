#pragma once

#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <utility>
#include <vector>

/// All that a training has made: rows of all ranks with their state, and a network.
class trained_parameters {
 public:
  /// Copies the rows that a rank owns.
  template <class Trainer>
  void add_rows(Trainer& trainer) {
    trainer.flush();
    trainer.for_each_row(
        [&](inlay::table_id table, inlay::raw_id id, inlay::span<float const> row) {
          rows_[{inlay::index(table), id}].assign(row.begin(), row.end());
        });
  }

  /// Copies the network.
  void add_network(inlay::span<inlay::matrix_view<float> const> tensors) {
    for (auto const& tensor : tensors) {
      for (std::size_t row = 0; row < tensor.rows; ++row) {
        auto const values = tensor.row(row);
        network_.insert(network_.end(), values.begin(), values.end());
      }
    }
  }

  /// Floats of the network.
  [[nodiscard]] std::size_t network_size() const { return network_.size(); }

  /// Whether all is the same, bit for bit.
  [[nodiscard]] bool operator==(trained_parameters const& other) const {
    auto const same = [](std::vector<float> const& left, std::vector<float> const& right) {
      return left.size() == right.size() &&
             std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
    };
    if (rows_.size() != other.rows_.size() || !same(network_, other.network_)) return false;
    for (auto const& [name, row] : rows_) {
      auto const known = other.rows_.find(name);
      if (known == other.rows_.end() || !same(row, known->second)) return false;
    }
    return true;
  }

  /// Euclidean distance of everything, over the norm; infinite if the rows are others.
  [[nodiscard]] double distance_to(trained_parameters const& other) const {
    constexpr auto far = std::numeric_limits<double>::infinity();
    double difference = 0.0;
    double norm = 0.0;
    auto const compare = [&](std::vector<float> const& left, std::vector<float> const& right) {
      for (std::size_t at = 0; at < left.size(); ++at) {
        difference += (double{left[at]} - right[at]) * (double{left[at]} - right[at]);
        norm += double{right[at]} * right[at];
      }
    };
    if (rows_.size() != other.rows_.size()) return far;
    compare(network_, other.network_);
    for (auto const& [name, row] : rows_) {
      auto const known = other.rows_.find(name);
      if (known == other.rows_.end()) return far;
      compare(row, known->second);
    }
    return std::sqrt(difference / norm);
  }

 private:
  using row_name = std::pair<std::size_t, inlay::raw_id>;  // table, id

  std::map<row_name, std::vector<float>> rows_;
  std::vector<float> network_;
};
