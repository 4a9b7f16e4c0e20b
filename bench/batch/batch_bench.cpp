#include <inlay/batch/batch.hpp>

#include <inlay/batch/criteo_tsv.hpp>
#include <inlay/batch/loader.hpp>
#include <inlay/batch/split.hpp>
#include <inlay/batch/synthetic.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

/// Synthetic rows in Criteo's own format, in a file that is removed at the end.
class criteo_file {
 public:
  static constexpr std::uint64_t rows = 200'000;

  criteo_file()
      : path_((std::filesystem::temp_directory_path() / "inlay_batch_bench.tsv").string()) {
    inlay::synthetic const generator{{.rows = rows, .scale = 1, .cap = 20'000'000}};
    std::ofstream file(path_, std::ios::binary);
    for (std::uint64_t sample = 0; sample < rows; ++sample) {
      file << line(generator.row(sample));
    }
  }
  criteo_file(criteo_file const&) = delete;
  criteo_file& operator=(criteo_file const&) = delete;
  ~criteo_file() { std::filesystem::remove(path_); }

  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  static std::string line(inlay::criteo_row const& row) {
    std::string text = row.label() > 0 ? "1" : "0";
    for (auto const integer : row.integers) {
      text += "\t" + (integer == inlay::missing_integer ? "" : std::to_string(integer));
    }
    for (std::size_t field = 0; field < inlay::criteo_categories; ++field) {
      std::array<char, 9> hex{};
      std::snprintf(hex.data(), hex.size(), "%08x", row.categories[field]);
      text += "\t";
      text += row.category(field) == inlay::missing_category ? "" : hex.data();
    }
    return text + "\n";
  }

  std::string path_;
};

criteo_file const& file() {
  static criteo_file const instance;
  return instance;
}

void parse_criteo(benchmark::State& state) {
  auto const bytes = std::filesystem::file_size(file().path());
  for (auto _ : state) {
    inlay::criteo_tsv const source(file().path());
    benchmark::DoNotOptimize(source.size());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(criteo_file::rows));
}
BENCHMARK(parse_criteo)->Name("batch/criteo/parse")->Unit(benchmark::kMillisecond);

/// Reads a shuffled source range by range, on this thread alone.
void read_shuffled(benchmark::State& state, inlay::batch_source auto const& source) {
  auto const rows = static_cast<std::uint64_t>(state.range(0));
  auto const all = inlay::split_by_chance(source.size(), 1, 1.0);
  inlay::loader from{source, all.train, {.read_ahead = 0}};
  std::uint64_t first = 0;
  for (auto _ : state) {
    first = first + rows > from.size() ? 0 : first;
    benchmark::DoNotOptimize(from.read({first, first + rows}).ids.data());
    first += rows;
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void read_criteo(benchmark::State& state) {
  static inlay::criteo_tsv const source(file().path());
  read_shuffled(state, source);
}
BENCHMARK(read_criteo)->Name("batch/criteo/read/rows")->RangeMultiplier(16)->Range(64, 16384);

void read_synthetic(benchmark::State& state) {
  static inlay::synthetic const source{};
  read_shuffled(state, source);
}
BENCHMARK(read_synthetic)->Name("batch/synthetic/read/rows")->RangeMultiplier(16)->Range(64, 16384);

void prepare_synthetic(benchmark::State& state) {
  for (auto _ : state) {
    inlay::synthetic const source{};
    benchmark::DoNotOptimize(source.logit(0));
  }
}
BENCHMARK(prepare_synthetic)->Name("batch/synthetic/pilot")->Unit(benchmark::kMillisecond);

void check_batch(benchmark::State& state) {
  inlay::batch content;
  content.reset({.rows = static_cast<std::size_t>(state.range(0)), .fields = 26});
  for (auto _ : state) {
    check(content.view());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(check_batch)->Name("batch/check/rows")->RangeMultiplier(16)->Range(64, 16384);

}  // namespace
