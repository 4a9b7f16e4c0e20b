#pragma once

#include <inlay/engine/report.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The figures of a run: printed as a table, written as JSON, in the order in which they were
/// added.
class train_report {
 public:
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

  void print() const {
    std::printf("\n");
    for (auto const& [name, text] : lines_) {
      std::printf("%-22s %s\n", name.c_str(), text.c_str());
    }
  }

  void write(std::string const& path) const {
    std::ofstream file(path);
    file << json_.dump(2) << '\n';
    if (!file.flush()) inlay::fail("the report could not be written to " + path);
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

  nlohmann::ordered_json json_;
  std::vector<std::pair<std::string, std::string>> lines_;
};
