// inlay's side of compare_torch.py: a process that does what the lines on its standard input say
// and answers each with one line, "ok" and words, or "error" and a sentence. So both sides run in
// turns on the same machine, and neither sits in the other's process. Data goes through files.
//
//   ids FOLDER ROWS BATCHES SEED       makes batches of ids and writes them as row numbers
//   embedding NAME DIM THREADS raw|dense RATE EPSILON GRADIENT_FILE
//   clicks FOLDER ROWS EPOCHS BATCH SEED   makes samples to train and test on and writes them
//   deepfm NAME THREADS
//   steps NAME FIRST COUNT             trains; answers seconds (wall, processor, stages) and
//   samples rows|parameters|logits NAME FILE   writes them as they are now drop NAME

#include "deepfm_side.hpp"
#include "embedding_side.hpp"
#include "timed_steps.hpp"

#include <inlay/core/error.hpp>
#include <inlay/engine/stage.hpp>

#include <cstddef>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <variant>

namespace {

using any_side = std::variant<std::unique_ptr<embedding_side>, std::unique_ptr<deepfm_side>>;

template <class... Cases>
struct cases : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
cases(Cases...) -> cases<Cases...>;

/// The words of one line, each read as what is asked for.
class command_line {
 public:
  explicit command_line(std::string const& line) : words_(line) {}

  template <class Value>
  [[nodiscard]] Value next() {
    Value value;
    if (!(words_ >> value)) inlay::fail("the line ends too early, or a word has a wrong form");
    return value;
  }

 private:
  std::istringstream words_;
};

std::string described(steps_taken const& taken) {
  std::ostringstream text;
  text << "seconds " << taken.seconds << " cpu " << taken.cpu_seconds << " samples "
       << taken.samples;
  for (std::size_t s = 0; s < inlay::stage_names.size(); ++s) {
    text << ' ' << inlay::stage_names[s] << ' ' << taken.stage_seconds[s];
  }
  return text.str();
}

class peer {
 public:
  /// Does what a line says and returns the words of the answer.
  std::string answer(std::string const& line) {
    command_line words(line);
    auto const verb = words.next<std::string>();
    if (verb == "ids") return make_ids(words);
    if (verb == "clicks") return make_clicks(words);
    auto const name = words.next<std::string>();
    if (verb == "embedding") return add_embedding(name, words);
    if (verb == "deepfm") return add_deepfm(name, words);
    if (verb == "steps") return steps(name, words);
    if (verb == "drop") {
      sides_.erase(name);
      return "";
    }
    return write(verb, name, words.next<std::string>());
  }

 private:
  std::string make_ids(command_line& words) {
    sides_.clear();  // they look at the batches
    auto const folder = words.next<std::string>();
    auto const rows = words.next<std::size_t>();
    auto const count = words.next<std::size_t>();
    ids_ = std::make_unique<id_batches>(rows, count, words.next<std::uint64_t>());
    ids_->write(folder);
    return "";
  }

  std::string make_clicks(command_line& words) {
    sides_.clear();
    auto const folder = words.next<std::string>();
    click_batches::knobs chosen;
    chosen.rows = words.next<std::uint64_t>();
    chosen.epochs = words.next<std::uint64_t>();
    chosen.batch = words.next<std::size_t>();
    chosen.seed = words.next<std::uint64_t>();
    clicks_ = std::make_unique<click_batches>(chosen);
    clicks_->write(folder);
    return "";
  }

  std::string add_embedding(std::string const& name, command_line& words) {
    inlay::expects(ids_ != nullptr, "ids must be made before what is trained on them");
    embedding_knobs knobs;
    knobs.dim = words.next<std::size_t>();
    knobs.threads = words.next<std::size_t>();
    knobs.ids = words.next<std::string>() == "raw" ? id_kind::raw : id_kind::dense;
    knobs.learning_rate = words.next<float>();
    knobs.epsilon = words.next<float>();
    auto const shape = ids_->of(knobs.ids)[0].shape();
    auto gradient = read_floats(words.next<std::string>(), shape.rows * shape.fields * knobs.dim);
    sides_[name] = std::make_unique<embedding_side>(knobs, *ids_, std::move(gradient));
    return "";
  }

  std::string add_deepfm(std::string const& name, command_line& words) {
    inlay::expects(clicks_ != nullptr, "clicks must be made before what is trained on them");
    sides_[name] = std::make_unique<deepfm_side>(words.next<std::size_t>(), *clicks_);
    return "";
  }

  std::string steps(std::string const& name, command_line& words) {
    auto const first = words.next<std::size_t>();
    auto const count = words.next<std::size_t>();
    return described(std::visit(
        cases{[&](std::unique_ptr<embedding_side>& at) { return at->steps(first, count); },
              [&](std::unique_ptr<deepfm_side>& at) { return at->steps(count); }},
        side(name)));
  }

  std::string write(std::string const& what, std::string const& name, std::string const& path) {
    std::visit(
        [&](auto& at) {
          if (what == "rows") return at->write_rows(path);
          if constexpr (requires { at->write_logits(path); }) {
            if (what == "parameters") return at->write_parameters(path);
            if (what == "logits") return at->write_logits(path);
          }
          inlay::fail("nobody knows what " + what + " of " + name + " would be");
        },
        side(name));
    return "";
  }

  [[nodiscard]] any_side& side(std::string const& name) {
    auto const found = sides_.find(name);
    if (found == sides_.end()) inlay::fail("there is no " + name);
    return found->second;
  }

  std::unique_ptr<id_batches> ids_;
  std::unique_ptr<click_batches> clicks_;
  std::map<std::string, any_side> sides_;  // behind what they look at
};

}  // namespace

int main() {
  peer here;
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer;
    try {
      answer = "ok " + here.answer(line);
    } catch (inlay::error const& wrong) {
      answer = "error " + wrong.sentence();
    } catch (std::exception const& wrong) {
      answer = std::string("error ") + wrong.what();
    }
    std::cout << answer << '\n' << std::flush;
  }
  return 0;
}
