#include "clicks.hpp"

#include <inlay/batch/synthetic.hpp>

#include <cstdint>
#include <numeric>
#include <vector>

inlay::batch some_clicks() {
  std::vector<std::uint64_t> samples(64);
  std::iota(samples.begin(), samples.end(), std::uint64_t{0});
  inlay::batch result;
  inlay::synthetic({.rows = samples.size()}).read(samples, result);
  return result;
}
