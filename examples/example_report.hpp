#pragma once

#include <inlay/core/error.hpp>
#include <inlay/engine/report.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The figures of a run: printed as a table, written as JSON, in the order in which they were
/// added.
class example_report {
 public:
  /// Figures that go to `path`, or nowhere else if it is empty.
  explicit example_report(std::string path) : path_(std::move(path)) {}

  /// For programs that understand `--report FILE` and nothing else.
  example_report(char const* about, int argc, char** argv) {
    CLI::App app(about);
    app.add_option("--report", path_, "write the figures to this JSON file");
    try {
      app.parse(argc, argv);
    } catch (CLI::ParseError const& end) {
      std::exit(app.exit(end));
    }
  }

  void add(std::string const& key, double value, std::string const& text) {
    json_[key] = value;
    lines_.emplace_back(words(key), text);
  }
  void add(std::string const& key, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", value);
    add(key, value, text);
  }
  void add(std::string const& key, std::uint64_t value) {
    json_[key] = value;
    lines_.emplace_back(words(key), std::to_string(value));
  }
  void add(std::string const& key, std::string const& value) {
    json_[key] = value;
    lines_.emplace_back(words(key), value);
  }

  /// Milliseconds a step, and the share of all stages, stage by stage.
  void add_stages(inlay::report const& figures) {
    double all = 0;
    for (auto const seconds : figures.stage_seconds) {
      all += seconds;
    }
    for (std::size_t s = 0; s < inlay::stage_names.size(); ++s) {
      auto const ms = 1e3 * figures.stage_seconds[s] / static_cast<double>(figures.steps);
      json_["stage_ms"][inlay::stage_names[s]] = ms;
      char text[48];
      std::snprintf(text, sizeof text, "%.3f ms, %.0f %%", ms,
                    100 * figures.stage_seconds[s] / all);
      lines_.emplace_back("  " + std::string(inlay::stage_names[s]), text);
    }
  }

  void title(std::string text) { lines_.emplace_back(std::move(text), ""); }

  /// Prints the table and writes the file.
  void show() const {
    std::printf("\n");
    for (auto const& [name, text] : lines_) {
      std::printf("%-22s %s\n", name.c_str(), text.c_str());
    }
    if (path_.empty()) return;
    std::ofstream file(path_);
    file << json_.dump(2) << '\n';
    if (!file.flush()) inlay::fail("the report could not be written to " + path_);
  }

 private:
  [[nodiscard]] static std::string words(std::string key) {
    for (auto& letter : key) {
      if (letter == '_') letter = ' ';
    }
    auto const auc = key.find("auc");
    if (auc != std::string::npos) key.replace(auc, 3, "AUC");
    return key;
  }

  std::string path_;
  nlohmann::ordered_json json_;
  std::vector<std::pair<std::string, std::string>> lines_;
};
