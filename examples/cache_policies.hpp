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
#include <inlay/core/one_of.hpp>

/// The cache policies that can be chosen by name: a policy is known when it stands here.
using any_policy = inlay::one_of<inlay::lru, inlay::fifo, inlay::clock, inlay::lfu, inlay::sieve,
                                 inlay::s3_fifo, inlay::arc, inlay::w_tiny_lfu, inlay::look_ahead>;
