#pragma once

#include <inlay/cache/arc.hpp>
#include <inlay/cache/clock.hpp>
#include <inlay/cache/fifo.hpp>
#include <inlay/cache/lfu.hpp>
#include <inlay/cache/look_ahead.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/s3_fifo.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/w_tiny_lfu.hpp>

/// Calls body(policy) for every policy of the library.
template <class Body>
void for_every_policy(Body const& body) {
  body(inlay::fifo{});
  body(inlay::lru{});
  body(inlay::clock{});
  body(inlay::lfu{});
  body(inlay::sieve{});
  body(inlay::s3_fifo{});
  body(inlay::arc{});
  body(inlay::w_tiny_lfu{});
  body(inlay::look_ahead{});
}
