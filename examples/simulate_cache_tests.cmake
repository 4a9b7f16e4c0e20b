# Runs simulate_cache on a trace of six requests, for four letters are a key like any other, and on the
# real one where INLAY_DATA has it.

set(trace "${CMAKE_CURRENT_BINARY_DIR}/six.u32")
file(WRITE "${trace}" "aaaabbbbaaaaccccaaaabbbb")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/cut.u32" "aaaabbb")

# inlay_simulate(<name> <regular expression> <arguments>...): it succeeds and prints that.
function(inlay_simulate name expected)
  add_test(NAME examples.simulate_cache.${name} COMMAND simulate_cache ${ARGN})
  set_tests_properties(examples.simulate_cache.${name} PROPERTIES PASS_REGULAR_EXPRESSION
                                                                  "${expected}")
endfunction()

# inlay_simulate_fails(<name> <sentence> <arguments>...): it fails and says that.
function(inlay_simulate_fails name sentence)
  add_test(NAME examples.simulate_cache.${name}
           COMMAND ${CMAKE_COMMAND} "-DEXPECT=${sentence}" -P
                   "${PROJECT_SOURCE_DIR}/cmake/expect_failure.cmake" -- $<TARGET_FILE:simulate_cache>
                   ${ARGN})
endfunction()

inlay_simulate(table "six.u32 +lru +2 +6 +6 +2 +0\\.3333 +2\n" --trace ${trace} --policies lru
               --capacities 2)
inlay_simulate(
  csv "belady_hits\nsix.u32,lru,2,6,6,2,0.333333,2\nsix.u32,lru,3,6,6,3,0.500000,3\nsix.u32,sieve,2"
  --csv --trace ${trace} --policies lru,sieve --capacities 2,100%)
inlay_simulate(batches "six.u32,lru,3,6,5,2,0.400000,\n" --csv --trace ${trace} --policies lru
               --capacities 3 --batch 3)
inlay_simulate(left_out "six.u32,lru,3,6,5,2,0.400000,\n" --csv --trace ${trace} --policies lru
               --capacities 1,3 --batch 3)
inlay_simulate(traces "six.u32,lru,4,.*six.u32,lru,4," --csv --trace ${trace} --trace ${trace}
               --policies lru --capacities 4)
if(INLAY_DATA AND EXISTS "${INLAY_DATA}/trace_scarab_200k.u32")
  inlay_simulate(golden "lru +705 +200000 +200000 +48252 +0.2413 +83680\n" --trace
                 "${INLAY_DATA}/trace_scarab_200k.u32" --policies lru --capacities 1%)
endif()

# What a training asked for, replayed with the batches that it had.
set(recorded "${CMAKE_CURRENT_BINARY_DIR}/recorded.keys")
add_test(NAME examples.train_ctr.keys COMMAND train_ctr --rows 2000 --epochs 1 --cache-rows 7000 --keys
                                              ${recorded})
set_tests_properties(examples.train_ctr.keys PROPERTIES FIXTURES_SETUP recorded_keys)
inlay_simulate(recorded "recorded.keys,lru,7000,41600,[0-9]+,[0-9]+,0\\.[0-9]+,\n" --csv --trace
               ${recorded} --policies lru --capacities 7000 --depth 0)
inlay_simulate_fails(window_over_batches "this trace has batches" --trace ${recorded} --window 5)
set_tests_properties(examples.simulate_cache.recorded examples.simulate_cache.window_over_batches
                     PROPERTIES FIXTURES_REQUIRED recorded_keys)

inlay_simulate_fails(unknown_policy "choose one of lru" --trace ${trace}
                     --policies best)
inlay_simulate_fails(no_row "'0' is no capacity: a cache needs at least one row" --trace ${trace}
                     --capacities 2,0)
inlay_simulate_fails(bad_percentage "'1%%' is no capacity: give rows" --trace ${trace} --capacities
                     1%%)
inlay_simulate_fails(cut_short "is cut short: a request takes 4 bytes" --trace
                     "${CMAKE_CURRENT_BINARY_DIR}/cut.u32")
inlay_simulate_fails(no_such_trace "can't be opened" --trace no_such.u32)
inlay_simulate_fails(large_batch "batch 0 of the trace needs 2 rows at once" --trace ${trace}
                     --capacities 1 --batch 3)
inlay_simulate_fails(depth_alone "--depth keeps batches in flight: add --batch" --trace ${trace}
                     --depth 1)
inlay_simulate_fails(no_plot "can't write to /no/such.svg.gnuplot" --trace ${trace} --plot
                     /no/such.svg)
inlay_simulate_fails(no_gnuplot "gnuplot is not here" --trace ${trace} --plot
                     "${CMAKE_CURRENT_BINARY_DIR}/six.svg")
set_tests_properties(examples.simulate_cache.no_gnuplot
                     PROPERTIES ENVIRONMENT "PATH=${CMAKE_CURRENT_BINARY_DIR}")
