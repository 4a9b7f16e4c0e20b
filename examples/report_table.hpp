#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

/// A figure among others: how it is printed, and what it is.
struct report_cell {
  std::string text = "-";
  nlohmann::ordered_json value = nullptr;

  /// There is none.
  report_cell() = default;
  report_cell(std::string words) : text(words), value(std::move(words)) {}
  report_cell(char const* words) : report_cell(std::string(words)) {}
  report_cell(std::uint64_t number) : text(std::to_string(number)), value(number) {}
  /// Printed with so many decimals.
  report_cell(double number, int decimals) : value(number) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.*f", decimals, number);
    text = digits;
  }
};

/// Rows of figures below their heads: aligned where they are printed, a list of objects in JSON.
class report_table {
 public:
  explicit report_table(std::vector<std::string> heads) : heads_(std::move(heads)) {}

  /// One cell for each head.
  void add(std::vector<report_cell> row) { rows_.push_back(std::move(row)); }

  /// The heads and the rows; words begin together, figures end together.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> result(rows_.size() + 1);
    for (std::size_t at = 0; at < heads_.size(); ++at) {
      auto width = heads_[at].size();
      auto are_words = false;
      for (auto const& row : rows_) {
        width = std::max(width, row[at].text.size());
        are_words = are_words || row[at].value.is_string();
      }
      append(result[0], heads_[at], width, are_words);
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        append(result[row + 1], rows_[row][at].text, width, are_words);
      }
    }
    for (auto& line : result) {
      line.erase(line.find_last_not_of(' ') + 1);
    }
    return result;
  }

  /// One object for each row, its members named by the heads.
  [[nodiscard]] nlohmann::ordered_json json() const {
    auto result = nlohmann::ordered_json::array();
    for (auto const& row : rows_) {
      nlohmann::ordered_json one;
      for (std::size_t at = 0; at < heads_.size(); ++at) {
        auto name = heads_[at];
        std::replace(name.begin(), name.end(), ' ', '_');
        one[name] = row[at].value;
      }
      result.push_back(std::move(one));
    }
    return result;
  }

 private:
  static void append(std::string& line, std::string const& text, std::size_t width,
                     bool are_words) {
    std::string const blanks(width - text.size(), ' ');
    line += line.empty() ? "" : "  ";
    line += are_words ? text + blanks : blanks + text;
  }

  std::vector<std::string> heads_;
  std::vector<std::vector<report_cell>> rows_;
};
