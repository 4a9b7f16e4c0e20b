#pragma once

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/core/one_of.hpp>

/// The cache policies that can be chosen by name: a policy is known when it stands here.
using any_policy = inlay::one_of<inlay::lru, inlay::sieve>;
