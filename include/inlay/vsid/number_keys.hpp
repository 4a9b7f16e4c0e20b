#pragma once

#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/vsid/key_index.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Numbers the distinct of some keys in order of first appearance, by an index that it clears
/// first; returns how many there are. `virtual_ids` gets every key's number; `unique` and `counts`,
/// with room for as many as there are keys, get the distinct ones and how often each occurs.
template <class Key>
std::uint32_t number_keys(span<Key const> keys, key_index<Key>& numbers, virtual_id* virtual_ids,
                          Key* unique, std::uint32_t* counts) {
  std::uint32_t distinct = 0;
  numbers.clear();
  numbers.find_or_insert_each(
      keys, [&] { return distinct; },
      [&](std::size_t i, std::uint32_t number, bool is_new) {
        virtual_ids[i] = number;
        if (is_new) {
          unique[number] = keys[i];
          counts[number] = 0;
          ++distinct;
        }
        ++counts[number];
      });
  return distinct;
}

}  // namespace inlay::inline INLAY_ABI
