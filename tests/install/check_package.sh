#!/bin/sh
# usage: check_package.sh BUILD_DIR WORK_DIR CPACK LLVM_PREFIX: makes the packages, and compiles an installed sample with
# the archive unpacked elsewhere, where there is no LLVM: an empty folder is mounted in its place. Prints [SKIP] where
# nobody may mount.
set -eu
build=$1 work=$2 cpack=$3 llvm=$4
rm -rf "$work"
mkdir -p "$work/packages" "$work/moved"
cd "$build"
# By zstd: xz, which packages that are shipped are compressed by, takes a minute and makes them smaller still.
"$cpack" -G "TZST;DEB" -B "$work/packages" -D CPACK_DEBIAN_COMPRESSION_TYPE=zstd >"$work/cpack.log" 2>&1 ||
  { cat "$work/cpack.log"; exit 1; }
archive=$(ls "$work"/packages/mscclc-*.tar.zst)
deb=$(ls "$work"/packages/mscclc_*.deb)
for package in "$archive" "$deb"; do
  bytes=$(stat -c %s "$package")
  echo "$(basename "$package"): $bytes bytes"
  [ "$bytes" -le 40000000 ] || { echo "it is larger than 40 MB"; exit 1; }
done
dpkg-deb -c "$deb" >"$work/files"
(cd "$work/moved" && "$(dirname "$cpack")/cmake" -E tar xf "$archive") # as tar may have no zstd
moved=$(echo "$work"/moved/*)
for file in bin/mscclc include/mscclc/dsl.hpp lib/mscclc/clang/include/stddef.h share/man/man1/mscclc.1 \
  share/bash-completion/completions/mscclc share/zsh/site-functions/_mscclc \
  share/fish/vendor_completions.d/mscclc.fish share/doc/mscclc/diagnostics.md share/mscclc/samples/sendrecv.cpp; do
  [ -s "$moved/$file" ] || { echo "the archive lacks $file"; exit 1; }
  grep -q "\./usr/$file$" "$work/files" || { echo "the package lacks /usr/$file"; exit 1; }
done
if ldd "$moved/bin/mscclc" | grep -E 'libLLVM|libclang'; then
  echo "the compiler needs LLVM's libraries"
  exit 1
fi
unshare -rm true 2>/dev/null || { echo "[SKIP] this machine lets nobody mount"; exit 0; }
unshare -rm sh -euc '
  mount -t tmpfs none "$1"
  [ -z "$(ls -A "$1")" ]
  "$2/bin/mscclc" "$2/share/mscclc/samples/sendrecv.cpp" -P ranks=4 -o "$3"
  printf "#include <vector>\n#include <algorithm>\n" | cat - "$2/share/mscclc/samples/sendrecv.cpp" | "$2/bin/mscclc" - -x cpp --verify
  mount -t tmpfs none /proc # the headers are found there too
  cd "$2/bin"
  ./mscclc ../share/mscclc/samples/sendrecv.cpp -P ranks=4 --verify
  PATH="$2/bin" mscclc ../share/mscclc/samples/sendrecv.cpp -P ranks=4 --verify
' sh "$llvm" "$moved" "$work/plan.json"
grep -q '"name": *"sendrecv"' "$work/plan.json"
