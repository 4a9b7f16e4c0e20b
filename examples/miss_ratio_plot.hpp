#pragma once

#include "output_file.hpp"

#include <inlay/core/error.hpp>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <map>
#include <string>
#include <system_error>
#include <utility>

/// Text between quotes as gnuplot's strings and CSV have it.
[[nodiscard]] inline std::string quoted(std::string const& text, char quote) {
  std::string inside;
  for (auto const letter : text) {
    if (letter == quote) inside += quote;
    // A line that ends within a name would be read as a command.
    inside += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return quote + inside + quote;
}

/// Curves of miss ratios over capacities for gnuplot: a script that stays beside the SVG file that
/// it writes. No path is no plot.
class miss_ratio_plot {
 public:
  explicit miss_ratio_plot(std::string svg)
      : svg_(std::move(svg)), script_(svg_.empty() ? svg_ : svg_ + ".gnuplot"), file_(script_) {}

  /// A curve.
  void add(std::string const& title, std::map<std::size_t, double> const& ratios) {
    auto const name = "$curve" + std::to_string(++count_);
    points_ += name + " << EOD\n";
    for (auto const& [capacity, ratio] : ratios) {
      points_ += std::to_string(capacity) + " " + std::to_string(ratio) + "\n";
    }
    points_ += "EOD\n";
    curves_ += (count_ > 1 ? ", " : "") + name + " with linespoints title " + quoted(title, '\'');
  }

  /// Writes the script and lets gnuplot run it. That gnuplot is not there, or fails, is an error.
  void draw() {
    if (!file_.wanted()) return;
    file_.stream() << "set terminal svg size 900,600 noenhanced background 'white'\n"
                   << "set output " << quoted(svg_, '\'') << "\n"
                   << "set logscale x\nset xlabel 'capacity (rows)'\n"
                   << "set ylabel 'miss ratio'\nset yrange [0:1]\nset grid\n"
                   << "set key outside bottom\n"
                   << points_ << "plot " << curves_ << "\n";
    file_.close();
    run_gnuplot();
  }

 private:
  void run_gnuplot() {
    std::string program = "gnuplot";
    std::array<char*, 3> arguments{program.data(), script_.data(), nullptr};
    pid_t child = 0;
    auto const cause =
        posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
    if (cause == ENOENT) {
      inlay::fail("gnuplot is not here; where it is, run: gnuplot " + script_);
    }
    if (cause != 0) {
      inlay::fail("gnuplot can't be started: " + std::generic_category().message(cause));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      inlay::fail("gnuplot has failed over " + script_);
    }
  }

  std::string svg_;
  std::string script_;
  output_file file_;
  std::string points_;
  std::string curves_;
  int count_ = 0;
};
