#include <inlay/exchange/self_comm.hpp>

#include <inlay/testing/communicator_laws.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace {

TEST_CASE("self_comm: the laws of a communicator hold") {
  inlay::self_comm comm;
  inlay::testing::check_communicator(comm);
}

TEST_CASE("self_comm: counts that differ are a sentence, and nothing is copied") {
  inlay::self_comm const comm;
  std::vector<std::byte> const out(4, std::byte{1});
  std::vector<std::byte> in(4, std::byte{9});
  std::size_t const four = 4;
  std::size_t const three = 3;
  CHECK_THROWS_WITH_AS(
      (void)comm.all_to_all_v({out.data(), 4}, {&four, 1}, {in.data(), 4}, {&three, 1}),
      doctest::Contains("must also receive"), inlay::error);
  CHECK_THROWS_WITH_AS(
      (void)comm.all_to_all_v({out.data(), 4}, {&four, 1}, {in.data(), 3}, {&four, 1}),
      doctest::Contains("smaller than its counts say"), inlay::error);
  CHECK(in == std::vector<std::byte>(4, std::byte{9}));
}

TEST_CASE("self_comm: a sum over one rank is what it was") {
  inlay::self_comm const comm;
  std::vector<float> values{1.5F, -0.0F};
  comm.all_reduce({values.data(), 2}).wait({});
  CHECK(values == std::vector<float>{1.5F, -0.0F});
}

/// Loses the last byte of an exchange.
struct lossy_comm : inlay::self_comm {
  done all_to_all_v(inlay::span<std::byte const> send, inlay::span<std::size_t const> send_counts,
                    inlay::span<std::byte> receive,
                    inlay::span<std::size_t const> receive_counts) const {
    auto const sent = inlay::self_comm::all_to_all_v(send, send_counts, receive, receive_counts);
    if (!receive.empty()) receive[receive.size() - 1] = std::byte{0};
    return sent;
  }
};

TEST_CASE("communicator laws: a lost byte is found and named") {
  lossy_comm comm;
  CHECK_THROWS_WITH_AS(inlay::testing::check_communicator(comm),
                       doctest::Contains("what each rank sent"), inlay::error);
}

}  // namespace
