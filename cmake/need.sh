# shellcheck shell=bash
# Sourced by demo.sh and test.sh: makes sure that Debian packages are there, by what they bring, so
# that a copy installed in another way counts too.

has_header() {
  printf '#include <%s>\n' "$1" | c++ -x c++ -E - >/dev/null 2>&1
}

has_package() {
  case "$1" in
    g++) command -v c++ ;;
    ninja-build) command -v ninja ;;
    clang-19) command -v clang++-19 ;;
    clang-format-19) command -v clang-format-19 ;;
    doxygen) command -v doxygen ;;
    doctest-dev) has_header doctest/doctest.h ;;
    libbenchmark-dev) has_header benchmark/benchmark.h ;;
    libcli11-dev) has_header CLI/CLI.hpp ;;
    libeigen3-dev) has_header eigen3/Eigen/Core || has_header Eigen/Core ;;
    nlohmann-json3-dev) has_header nlohmann/json.hpp ;;
    zlib1g-dev) has_header zlib.h ;;
    *) false ;;
  esac >/dev/null
}

# Prints those of the packages that are missing, on one line.
missing_packages() {
  local missing=() package
  for package in "$@"; do
    has_package "$package" || missing+=("$package")
  done
  echo "${missing[*]}"
}

# apt_get <arguments>: as root or through a sudo that asks nothing; fails elsewhere.
apt_get() {
  [ -e /etc/debian_version ] && command -v apt-get >/dev/null || return 1
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    as_root=(sudo -n)
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >&2
}

# offer_packages <package>...: installs what is missing where that is allowed; fails if some stay
# missing.
offer_packages() {
  local missing
  missing=$(missing_packages "$@")
  if [ -n "$missing" ]; then
    apt_get update  # If this fails, the lists that are there may still do.
    # shellcheck disable=SC2086  # several names
    apt_get install -y --no-install-recommends $missing
  fi
  [ -z "$(missing_packages "$@")" ]
}

# need_packages <package>...: the same, but names what is missing in one line and stops.
need_packages() {
  offer_packages "$@" && return
  echo "Please install: $(missing_packages "$@") (names of Debian 12 packages)" >&2
  exit 1
}
