# Sourced by the other scripts: installs what is missing, configures, builds.
#
# setup_packages [PACKAGE…]  distribution packages, once for a package list; those named where they can be had
# setup_build PRESET TARGET…  configure, anew where packages came since, and build; does next to nothing when all is up
#                             to date

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The versions of LLVM that mscclc is built with, newest first.
mapfile -t llvm_versions <"$root/cmake/llvm-versions.txt"
llvm_range="${llvm_versions[-1]} to ${llvm_versions[0]}"

say() { printf 'mscclc setup: %s\n' "$*" >&2; }
die() {
  printf 'mscclc setup: error: %s\n' "$*" >&2
  exit 1
}

need_root() {
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1 ||
    die "needs root to install packages: run as root, or install sudo, or have these installed: ${missing[*]:-LLVM and Clang, $llvm_range}"
}

# Finds dpkg's helpers also where su leaves root without their folders.
as_root() {
  local path="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
  if [ "$(id -u)" = 0 ]; then env PATH="$path" "$@"; else sudo env PATH="$path" "$@"; fi
}

# The newest LLVM that is installed or can be had.
pick_llvm() {
  local version
  for version in "${llvm_versions[@]}"; do
    if [ -x "/usr/lib/llvm-$version/bin/clang" ] && [ -d "/usr/lib/llvm-$version/lib/cmake/clang" ]; then
      llvm=$version
      return 0
    fi
  done
  for version in "${llvm_versions[@]}"; do
    if apt-cache show "libclang-$version-dev" 2>/dev/null | grep -q . && apt-cache show "llvm-$version-tools" 2>/dev/null | grep -q .; then
      llvm=$version
      return 0
    fi
  done
  return 1
}

# Packages for LLVM $llvm, and those of `extra` that there are; the runtime library of sanitizers and fuzzers has a package of its own.
wanted_packages() {
  wanted=(cmake ninja-build g++ python3 libseccomp-dev libcli11-dev nlohmann-json3-dev libpugixml-dev catch2 libzstd-dev zlib1g-dev
    "clang-$llvm" "libclang-$llvm-dev" "libclang-cpp$llvm-dev" "llvm-$llvm-dev" "llvm-$llvm-tools"
    "libclang-rt-$llvm-dev")
  local package
  for package in "${extra[@]}"; do
    if apt-cache show "$package" 2>/dev/null | grep -q .; then wanted+=("$package"); fi
  done
}

find_missing() {
  missing=()
  local package
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
}

# Brings the package lists up to date. Sets outdated to what went wrong; some other source may be at fault, and all
# that is wanted be there.
update_lists() {
  say "updating the package lists"
  local log
  log=$(mktemp)
  outdated=
  as_root DEBIAN_FRONTEND=noninteractive apt-get update -qq -o APT::Update::Error-Mode=any >"$log" 2>&1 || outdated=$(cat "$log")
  rm -f "$log"
}

# Ends with the reason, which may be that the lists are old.
die_unavailable() {
  [ -z "${outdated:-}" ] || printf '%s\n' "$outdated" >&2
  die "$1${outdated:+. The package lists could not be updated, as said above: is there a network?}"
}

check_cmake() {
  local version
  version=$(cmake --version | sed -n '1s/.* //p')
  [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n1)" = 3.25 ] ||
    die "CMake $version is too old: 3.25 is needed, and this distribution has none (https://apt.kitware.com has, for Ubuntu)"
}

setup_packages() {
  local -a extra=("$@")
  local stamp="$root/build/.packages${1:+-$(printf '%s ' "$@" | cksum | cut -d' ' -f1)}"
  local key
  key="$(cat "${BASH_SOURCE[0]}" "$root/cmake/llvm-versions.txt" | cksum) $(cat /etc/os-release 2>/dev/null | cksum)"
  if [ -f "$stamp" ] && [ "$(sed -n 1p "$stamp")" = "$key" ]; then
    llvm=$(sed -n 2p "$stamp")
    [ -x "/usr/lib/llvm-$llvm/bin/clang" ] && type cmake ninja g++ python3 >/dev/null 2>&1 && return 0
  fi
  command -v apt-get >/dev/null 2>&1 ||
    die "this machine has no apt-get. Install LLVM and Clang ($llvm_range) with their development files, CMake 3.25+, Ninja, CLI11, nlohmann_json, pugixml, Catch2 and libseccomp, then: cmake --preset release && cmake --build --preset release"
  missing=()
  llvm=
  if pick_llvm; then
    wanted_packages
    find_missing
  fi
  if [ -z "$llvm" ] || [ ${#missing[@]} -gt 0 ]; then
    need_root
    update_lists
    llvm=
    pick_llvm || die_unavailable "this distribution offers no LLVM from $llvm_range (libclang-${llvm_versions[0]}-dev and the like; https://apt.llvm.org has them)"
    wanted_packages
    find_missing
    local package unavailable=()
    for package in "${missing[@]}"; do
      apt-cache show "$package" 2>/dev/null | grep -q . || unavailable+=("$package")
    done
    [ ${#unavailable[@]} -eq 0 ] || die_unavailable "these packages cannot be had here: ${unavailable[*]}"
  fi
  if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${missing[*]}"
    local log
    log=$(mktemp)
    if ! as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 \
      "${missing[@]}" >"$log" 2>&1; then
      cat "$log" >&2
      rm -f "$log"
      die "could not install: ${missing[*]}"
    fi
    rm -f "$log"
  fi
  check_cmake
  mkdir -p "$root/build"
  printf '%s\n%s\n' "$key" "$llvm" >"$stamp"
}

# What Ninja says, without what it says when there is nothing to do.
show_progress() {
  local line said=
  while IFS= read -r line; do
    case $line in "ninja: Entering directory"* | "ninja: no work to do."* | *"Re-checking globbed"*) continue ;; esac
    [ -n "$said" ] || say "building ($1)"
    said=yes
    printf '%s\n' "$line" >&2
  done
}

# Whether packages were looked for after the build in folder $1 was configured: it may not have seen them.
packages_came_since() {
  local stamp
  for stamp in "$root"/build/.packages*; do
    if [ "$stamp" -nt "$1/.llvm" ]; then return 0; fi
  done
  return 1
}

setup_build() {
  local preset=$1 dir log prefix="/usr/lib/llvm-$llvm"
  shift
  dir="$root/build/$preset"
  if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/.llvm" 2>/dev/null)" != "$llvm" ] || packages_came_since "$dir"; then
    say "configuring ($preset, LLVM $llvm)"
    mkdir -p "$dir"
    log="$dir/configure.log"
    # Clang compiles in half of GCC's time.
    if ! (cd "$root" && cmake --preset "$preset" -DMSCCLC_LLVM_DIR="$prefix" -DCMAKE_C_COMPILER="$prefix/bin/clang" \
      -DCMAKE_CXX_COMPILER="$prefix/bin/clang++" >"$log" 2>&1); then
      cat "$log" >&2
      die "configuring failed"
    fi
    printf '%s\n' "$llvm" >"$dir/.llvm"
  fi
  (
    set -o pipefail
    ninja -C "$dir" "$@" 2>&1 | show_progress "$preset"
  ) || die "the build failed"
}
