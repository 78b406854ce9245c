# Sourced by the other scripts: installs what is missing, configures, builds.
#
# setup_packages            distribution packages, once for a package list
# setup_build PRESET TARGET…  configure and build; does next to nothing when all is up to date

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf 'mscclc setup: %s\n' "$*" >&2; }
die() {
  printf 'mscclc setup: error: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null 2>&1; then sudo "$@"; else
    die "needs root to install packages: run as root, or install sudo, or install by hand: ${missing[*]}"
  fi
}

# The newest LLVM of 22 to 19 that is installed or can be had.
pick_llvm() {
  local version
  for version in 22 21 20 19; do
    if [ -x "/usr/lib/llvm-$version/bin/clang" ] && [ -d "/usr/lib/llvm-$version/lib/cmake/clang" ]; then
      llvm=$version
      return 0
    fi
  done
  for version in 22 21 20 19; do
    if apt-cache show "libclang-$version-dev" 2>/dev/null | grep -q . && apt-cache show "llvm-$version-tools" 2>/dev/null | grep -q .; then
      llvm=$version
      return 0
    fi
  done
  return 1
}

# Packages for LLVM $llvm; the runtime library of sanitizers and fuzzers has a package of its own.
wanted_packages() {
  wanted=(cmake ninja-build g++ python3 libseccomp-dev libcli11-dev nlohmann-json3-dev catch2 libzstd-dev zlib1g-dev
    "clang-$llvm" "libclang-$llvm-dev" "libclang-cpp$llvm-dev" "llvm-$llvm-dev" "llvm-$llvm-tools"
    "libclang-rt-$llvm-dev")
}

find_missing() {
  missing=()
  local package
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
}

setup_packages() {
  local stamp="$root/build/.packages"
  local key
  key="$(cksum <"${BASH_SOURCE[0]}") $(cat /etc/os-release 2>/dev/null | cksum)"
  if [ -f "$stamp" ] && [ "$(sed -n 1p "$stamp")" = "$key" ]; then
    llvm=$(sed -n 2p "$stamp")
    [ -x "/usr/lib/llvm-$llvm/bin/clang" ] && return 0
  fi
  command -v apt-get >/dev/null 2>&1 ||
    die "this machine has no apt-get. Install LLVM and Clang (19 to 22) with their development files, CMake 3.25+, Ninja, CLI11, nlohmann_json, Catch2 and libseccomp, then: cmake --preset release && cmake --build --preset release"
  missing=()
  if pick_llvm; then
    wanted_packages
    find_missing
  fi
  if [ -z "${llvm:-}" ] || [ ${#missing[@]} -gt 0 ]; then
    say "updating the package lists"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || die "apt-get update failed"
    llvm=
    pick_llvm || die "this distribution offers no LLVM from 19 to 22 (package libclang-22-dev and the like)"
    wanted_packages
    find_missing
    local package unavailable=()
    for package in "${missing[@]}"; do
      apt-cache show "$package" 2>/dev/null | grep -q . || unavailable+=("$package")
    done
    [ ${#unavailable[@]} -eq 0 ] || die "these packages cannot be had here: ${unavailable[*]}"
  fi
  if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
      cat "$log" >&2
      rm -f "$log"
      die "could not install: ${missing[*]}"
    fi
    rm -f "$log"
  fi
  mkdir -p "$root/build"
  printf '%s\n%s\n' "$key" "$llvm" >"$stamp"
}

setup_build() {
  local preset=$1 dir log
  shift
  dir="$root/build/$preset"
  if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/.llvm" 2>/dev/null)" != "$llvm" ]; then
    say "configuring ($preset, LLVM $llvm)"
    mkdir -p "$dir"
    log="$dir/configure.log"
    if ! (cd "$root" && cmake --preset "$preset" -DMSCCLC_LLVM_DIR="/usr/lib/llvm-$llvm" >"$log" 2>&1); then
      cat "$log" >&2
      die "configuring failed"
    fi
    printf '%s\n' "$llvm" >"$dir/.llvm"
  fi
  # Ninja says in a fraction of a second that nothing is to be done; only what it builds is shown.
  if ! ninja -C "$dir" -n "$@" 2>/dev/null | grep -q 'no work to do'; then
    say "building ($preset)"
    ninja -C "$dir" "$@" >&2 || die "the build failed"
  fi
}
