#pragma once

#include <inlay/core/config.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace inlay::inline INLAY_ABI {

/// What the library throws: a sentence for a person, then the file and line that found the fault.
class error : public std::runtime_error {
 public:
  /// What went wrong, and where that was found.
  error(std::string const& sentence, char const* file, int line)
      : std::runtime_error(sentence + " [" + file + ":" + std::to_string(line) + "]"),
        sentence_(sentence) {}

  /// The sentence alone, for programs that print it to their users.
  [[nodiscard]] std::string const& sentence() const noexcept { return sentence_; }

 private:
  std::string sentence_;
};

// The builtins stand in for std::source_location, which nvcc rejects in default arguments of
// members.

/// Throws `error` with this sentence. Build the sentence only where something has gone wrong.
[[noreturn]] inline void fail(std::string const& sentence, char const* file = __builtin_FILE(),
                              int line = __builtin_LINE()) {
  throw error(sentence, file, line);
}

/// States what the caller owes. Always checked; throws `error` with the sentence when it is not
/// kept.
inline void expects(bool kept, std::string_view sentence, char const* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (!kept) [[unlikely]] {
    throw error(std::string(sentence), file, line);
  }
}

}  // namespace inlay::inline INLAY_ABI
