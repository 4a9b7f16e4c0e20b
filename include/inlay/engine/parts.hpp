#pragma once

#include <inlay/aggregate/bulk.hpp>
#include <inlay/bag/pooling.hpp>
#include <inlay/cache/fully_associative.hpp>
#include <inlay/cache/in_place.hpp>
#include <inlay/cache/no_cache.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/exchange/owner_all_to_all.hpp>
#include <inlay/exchange/self_comm.hpp>
#include <inlay/optim/constant_rate.hpp>
#include <inlay/optim/rowwise_adagrad.hpp>
#include <inlay/table/always.hpp>
#include <inlay/table/host_table.hpp>
#include <inlay/table/uniform.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/keys.hpp>

#include <type_traits>

namespace inlay::inline INLAY_ABI {

/// The organisation that goes with a cache: rows stay in the table without one, else they are
/// cached.
template <class Cache>
using default_organisation =
    std::conditional_t<std::is_same_v<Cache, no_cache>, in_place, fully_associative>;

/// The parts that an engine is made of, and all defaults. Name those that differ, in this order:
///
/// ```cpp
/// parts{.cache = sieve{}, .optimizer = adagrad{.learning_rate = 0.05F}}
/// ```
///
/// Its parameters are not constrained: `engine` says in a sentence what is wrong with a part.
template <class Exec = host_exec, class Keys = narrow, class Mapper = hash_mapper,
          class Init = uniform, class Table = host_table, class Admit = always,
          class Cache = no_cache, class Organisation = default_organisation<Cache>,
          class Exchange = owner_all_to_all, class Comm = self_comm, class Pooling = sum,
          class Sync = bulk, class Optimizer = rowwise_adagrad, class Schedule = constant_rate,
          class Sums = fast_sums>
struct parts {
  using exec_type = Exec;
  using keys_type = Keys;
  using mapper_type = Mapper;
  using init_type = Init;
  using table_type = Table;
  using admit_type = Admit;
  using cache_type = Cache;
  using organisation_type = Organisation;
  using exchange_type = Exchange;
  using comm_type = Comm;
  using pooling_type = Pooling;
  using sync_type = Sync;
  using optimizer_type = Optimizer;
  using schedule_type = Schedule;
  using sums_type = Sums;

  Exec exec = {};                  ///< where the work runs
  Keys keys = {};                  ///< how (table, id) is packed
  Mapper mapper = {};              ///< how a step's ids are de-duplicated
  Init init = {};                  ///< what a new row begins as
  Table table = {};                ///< where rows live
  Admit admit = {};                ///< who gets a row at all
  Cache cache = {};                ///< which row leaves a full cache
  Organisation organisation = {};  ///< how rows get from the table to the step
  Exchange exchange = {};          ///< how rows get from rank to rank
  Comm comm = {};                  ///< who takes part
  Pooling pooling = {};            ///< how a bag's rows become one
  Sync sync = {};                  ///< which samples make an update
  Optimizer optimizer = {};        ///< how an update moves rows and attached parameters
  Schedule schedule = {};          ///< how the learning rate changes with the samples applied
  Sums sums = {};                  ///< in what order gradients are added
};

}  // namespace inlay::inline INLAY_ABI
