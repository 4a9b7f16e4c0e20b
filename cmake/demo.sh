#!/usr/bin/env bash
# Trains two models on the same 100,000 synthetic rows by the same program: logistic regression,
# then DeepFM. Installs what is missing where it may. Further arguments go to both runs:
# cmake/demo.sh --seed 3
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/need.sh

need_packages g++ ninja-build libeigen3-dev libcli11-dev nlohmann-json3-dev

cmake --preset host -DINLAY_BUILD_TESTS=OFF -DINLAY_BUILD_BENCH=OFF
cmake --build build/host --target train_ctr

train() {
  printf '\n== %s\n\n' "$1"
  shift
  build/host/examples/train_ctr --data synthetic --rows 100000 "$@"
}
train "Logistic regression: one weight per id" --model lr "$@"
train "DeepFM: a row of factors per id, pairs of fields interact" --model deepfm "$@"

cat <<'END'

What to look at: "test AUC" in both tables. The data has effects of pairs of fields, which logistic
regression cannot see and DeepFM can, so DeepFM's is higher. "oracle AUC" is what the probabilities
that drew the labels reach themselves: no model does better.
END
