#!/usr/bin/env bash
# Configures, builds and tests every preset, or those named: cmake/test.sh host emulated. Installs
# what is missing where it may. A preset that this machine cannot build is skipped in words; a
# failing one does not stop the others. The last lines sum up all of them.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
source cmake/need.sh

all_presets=(host host-clang host-asan host-tsan emulated cuda)
jobs=$(nproc)
rows=() passed_sum=0 failed_sum=0 skipped_sum=0

# Prints why a preset cannot be built here; nothing if it can, as far as is known before CMake runs.
obstacle() {
  case "$1" in
    host-clang) offer_packages clang-19 || echo "no clang++-19, and no right to install clang-19" ;;
    host-asan) starts_with address || echo "programs with -fsanitize=address do not start" ;;
    host-tsan) starts_with thread || echo "programs with -fsanitize=thread do not start" ;;
  esac
}

# Sanitizers need their run-time library, and a kernel whose address layout they know.
starts_with() {
  local program status
  program=$(mktemp)
  echo 'int main() { return 0; }' | c++ -x c++ "-fsanitize=$1" -o "$program" - && "$program"
  status=$?
  rm -f "$program"
  return $status
} >/dev/null 2>&1

count() { grep -cE "$1" "$2"; }

# add_row <preset> <passed> <failed> <cases> <skipped> <seconds> <words>
add_row() {
  rows+=("$(printf '%-11s %7s %7s %7s %8s %8s  %s' "$@")")
}

skip_preset() {
  echo "SKIPPED: $1: $2"
  add_row "$1" - - - - - "SKIPPED: $2"
}

fail_preset() {
  failed_sum=$((failed_sum + 1))
  add_row "$1" 0 1 - - "$2" "FAILED: $3"
}

run_preset() {
  local preset=$1 folder=build/$1 start=$SECONDS reason
  printf '\n== %s\n' "$preset"
  mkdir -p "$folder"

  reason=$(obstacle "$preset")
  if [ -n "$reason" ]; then
    skip_preset "$preset" "$reason"
    return
  fi

  if ! cmake --preset "$preset" ${INLAY_DATA:+"-DINLAY_DATA=$INLAY_DATA"} 2>&1 |
    tee "$folder/configure.log"; then
    reason=$(sed -n 's/.*cannot build here: *//p' "$folder/configure.log" | head -1)
    if [ -n "$reason" ]; then
      skip_preset "$preset" "$reason"
    else
      fail_preset "$preset" $((SECONDS - start)) "configure, see $folder/configure.log"
    fi
    return
  fi

  # -k 0: one broken file should not hide the next.
  if ! cmake --build "$folder" -j "$jobs" -- -k 0 2>&1 | tee "$folder/build.log"; then
    fail_preset "$preset" $((SECONDS - start)) "build, see $folder/build.log"
    return
  fi
  test_preset "$preset" "$folder" "$start"
}

test_preset() {
  local preset=$1 folder=$2 start=$3 log=$2/ctest.log closing
  ctest --test-dir "$folder" --output-on-failure -j "$jobs" 2>&1 | tee "$folder/ctest.out"
  # What passing tests printed is in CTest's own log only.
  cat "$folder/Testing/Temporary/LastTest.log" "$folder/ctest.out" >"$log"
  rm "$folder/ctest.out"

  closing=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" | tail -1)
  if [ -z "$closing" ]; then
    fail_preset "$preset" $((SECONDS - start)) "no test ran, see $log"
    return
  fi
  local failed total skipped cases
  read -r _ _ _ failed _ _ _ _ total <<<"$closing"
  skipped=$(count '^skipped: ' "$log")
  cases=$(awk '/^\[doctest\] test cases:/ {n += $4} END {print n + 0}' "$log")
  passed_sum=$((passed_sum + total - failed))
  failed_sum=$((failed_sum + failed))
  skipped_sum=$((skipped_sum + skipped))
  local words=""
  [ "$failed" -eq 0 ] || words="FAILED: see $log"
  add_row "$preset" $((total - failed)) "$failed" "$cases" "$skipped" $((SECONDS - start)) "$words"
}

sum_up() {
  local total=$((passed_sum + failed_sum)) percent=0
  printf '\n%-11s %7s %7s %7s %8s %8s\n' preset passed failed cases skipped seconds
  printf '%s\n' "${rows[@]}"
  printf '\npassed and failed count entries of ctest (a failed build is one), cases those of doctest,\n'
  printf 'skipped the lines "skipped: ..." that tests printed, %d in all; the logs are in\n' \
    "$skipped_sum"
  printf 'build/<preset>/ctest.log\n\n'
  if [ "$total" -eq 0 ]; then
    echo "No tests were run"
    return 1
  fi
  # Rounded down, so that 100 means all.
  percent=$((100 * passed_sum / total))
  echo "$percent% tests passed, $failed_sum tests failed out of $total"
  [ "$failed_sum" -eq 0 ]
}

presets=("$@")
[ $# -gt 0 ] || presets=("${all_presets[@]}")
for preset in "${presets[@]}"; do
  if [[ " ${all_presets[*]} " != *" $preset "* ]]; then
    echo "No preset '$preset'; there are: ${all_presets[*]}" >&2
    exit 1
  fi
done

need_packages g++ ninja-build doctest-dev libeigen3-dev libbenchmark-dev libcli11-dev \
  nlohmann-json3-dev
offer_packages clang-format-19 || echo "SKIPPED: the formatting check: no clang-format-19"
offer_packages doxygen || echo "SKIPPED: the check of documentation: no doxygen"
offer_packages zlib1g-dev || echo "SKIPPED: the tests of compressed files: no zlib1g-dev"

for preset in "${presets[@]}"; do
  run_preset "$preset"
done
sum_up
