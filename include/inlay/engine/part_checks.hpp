#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/no_cache.hpp>
#include <inlay/cache/organisation.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/engine/group_work.hpp>
#include <inlay/engine/parts.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/pooled_all_to_all.hpp>
#include <inlay/optim/rate_schedule.hpp>
#include <inlay/optim/row_optimizer.hpp>
#include <inlay/table/admission.hpp>
#include <inlay/table/initialiser.hpp>
#include <inlay/table/row_store.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Whether a part, or every choice of a `one_of`, is what `Test` asks for.
template <template <class> class Test, class Part>
inline constexpr bool each_is = Test<Part>::value;
template <template <class> class Test, class... Choices>
inline constexpr bool each_is<Test, one_of<Choices...>> = (Test<Choices>::value && ...);

template <class T>
struct is_policy : std::bool_constant<cache_policy<T>> {};
template <class Part>
inline constexpr bool any_is_no_cache = false;
template <class... Choices>
inline constexpr bool any_is_no_cache<one_of<Choices...>> =
    (std::is_same_v<Choices, no_cache> || ...);
template <class T>
struct is_pooling : std::bool_constant<pooling<T>> {};
template <class T>
struct is_optimizer : std::bool_constant<row_optimizer<T>> {};
template <class T>
struct is_schedule : std::bool_constant<rate_schedule<T>> {};

template <class T>
concept grants_samples = requires(T const sync, std::uint64_t position, std::size_t batch) {
  { sync.grant(position, position, batch) } -> std::same_as<sample_range>;
};

/// The store that `parts.table` opens, if it opens one.
template <class Parts>
concept opens_a_store =
    row_store<typename Parts::table_type::template store<typename Parts::keys_type,
                                                         typename Parts::init_type>>;

template <class Parts>
concept opens_rows = requires {
  typename Parts::organisation_type::template rows<
      typename Parts::cache_type, typename Parts::table_type::template store<
                                      typename Parts::keys_type, typename Parts::init_type>>;
};

/// Whether rows get from rank to rank; a communicator that is none has a sentence of its own.
template <class Parts>
concept exchanges = !communicator<typename Parts::comm_type> ||
                    std::is_same_v<typename Parts::exchange_type, pooled_all_to_all> ||
                    is_row_exchange<typename Parts::exchange_type, typename Parts::keys_type::key,
                                    typename Parts::comm_type>;

template <class T>
struct is_sums : std::bool_constant<std::is_same_v<T, fast_sums> || std::is_same_v<T, fixed_sums>> {
};

/// The compatibility table: a sentence for every part that is not what its field asks for, and for
/// every pair that makes no sense.
template <class Parts>
struct part_checks {
  static_assert(std::is_base_of_v<host_exec, typename Parts::exec_type> &&
                    execution<typename Parts::exec_type>,
                "parts.exec must be an execution: host_exec");
  static_assert(key_packing<typename Parts::keys_type>,
                "parts.keys must pack (table, id) into a key: see vsid/keys.hpp");
  static_assert(id_mapper<typename Parts::mapper_type, typename Parts::keys_type>,
                "parts.mapper must be an id mapper: see vsid/id_plan.hpp");
  static_assert(initialiser<typename Parts::init_type>,
                "parts.init must be an initialiser: see table/initialiser.hpp");
  static_assert(opens_a_store<Parts>, "parts.table must open a row store: see table/row_store.hpp");
  static_assert(admission<typename Parts::admit_type, typename Parts::keys_type::key>,
                "parts.admit must be an admission: see table/admission.hpp");
  static_assert(!any_is_no_cache<typename Parts::cache_type>,
                "parts.cache is a one_of with no_cache among its choices: whether rows move is a "
                "matter of types, so write two engines");
  static_assert(
      std::is_same_v<typename Parts::cache_type, no_cache> ||
          each_is<is_policy, typename Parts::cache_type>,
      "parts.cache must be a cache policy, or a one_of policies: see cache/cache_policy.hpp");
  static_assert(opens_rows<Parts>,
                "parts.organisation must be an organisation of rows: see cache/organisation.hpp");
  static_assert(
      exchanges<Parts>,
      "parts.exchange must be a row exchange, a one_of row exchanges, or pooled_all_to_all: see "
      "exchange/row_exchange.hpp");
  static_assert(communicator<typename Parts::comm_type>,
                "parts.comm must be a communicator: see exchange/communicator.hpp");
  static_assert(each_is<is_pooling, typename Parts::pooling_type>,
                "parts.pooling must be a pooling, or a one_of poolings: see bag/pooling.hpp");
  static_assert(grants_samples<typename Parts::sync_type>,
                "parts.sync must grant samples: see aggregate/bulk.hpp");
  static_assert(each_is<is_optimizer, typename Parts::optimizer_type>,
                "parts.optimizer must be a row optimizer, or a one_of row optimizers: see "
                "optim/row_optimizer.hpp");
  static_assert(each_is<is_schedule, typename Parts::schedule_type>,
                "parts.schedule must be a rate schedule, or a one_of rate schedules: see "
                "optim/rate_schedule.hpp");
  static_assert(each_is<is_sums, typename Parts::sums_type>,
                "parts.sums must be fast_sums or fixed_sums, or a one_of both");
  static_assert(
      !std::is_same_v<typename Parts::organisation_type, in_place> ||
          std::is_same_v<typename Parts::cache_type, no_cache>,
      "parts.organisation is in_place, where rows never move: it can't have a cache policy");
  static_assert(std::is_same_v<typename Parts::organisation_type, in_place> ||
                    !std::is_same_v<typename Parts::cache_type, no_cache>,
                "parts.organisation needs a cache policy: name one in parts.cache, such as lru");
};

}  // namespace detail

}  // namespace inlay::inline INLAY_ABI
