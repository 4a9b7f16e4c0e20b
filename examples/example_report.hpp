#pragma once

#include "output_file.hpp"
#include "report_table.hpp"

#include <inlay/engine/report.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The figures of a run: printed as a table, written as JSON, in the order in which they were
/// added.
class example_report {
 public:
  /// Figures that go to `path`, or nowhere else if it is empty.
  explicit example_report(std::string path) : file_(std::move(path)) {}

  /// For programs that understand `--report FILE` and nothing else.
  example_report(char const* about, int argc, char** argv)
      : example_report(asked_for(about, argc, argv)) {}

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

  void add(std::string const& key, report_table const& table) {
    json_[key] = table.json();
    for (auto const& line : table.lines()) {
      title(line);
    }
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

  /// A figure that does not exist, and why.
  void add_missing(std::string const& key, std::string const& why) {
    json_[key] = nullptr;
    lines_.emplace_back(words(key), why);
  }

  void title(std::string text) { lines_.emplace_back(std::move(text), ""); }

  /// Prints the table and writes the file.
  void show() {
    std::printf("\n");
    for (auto const& [name, text] : lines_) {
      if (text.empty()) {
        std::printf("%s\n", name.c_str());
      } else {
        std::printf("%-22s %s\n", name.c_str(), text.c_str());
      }
    }
    if (!file_.wanted()) return;
    file_.stream() << json_.dump(2) << '\n';
    file_.close();
  }

 private:
  [[nodiscard]] static std::string asked_for(char const* about, int argc, char** argv) {
    std::string path;
    CLI::App app(about);
    app.add_option("--report", path, "write the figures to this JSON file");
    try {
      app.parse(argc, argv);
    } catch (CLI::ParseError const& end) {
      std::exit(app.exit(end));
    }
    return path;
  }

  [[nodiscard]] static std::string words(std::string key) {
    for (auto& letter : key) {
      if (letter == '_') letter = ' ';
    }
    auto const auc = key.find("auc");
    if (auc != std::string::npos) key.replace(auc, 3, "AUC");
    return key;
  }

  output_file file_;
  nlohmann::ordered_json json_;
  std::vector<std::pair<std::string, std::string>> lines_;
};
