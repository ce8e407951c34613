# Shared by the scripts: where things are, what the system must have, and how the release build is made. Source it from bash.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv=$root/build/venv
python=$venv/bin/python
jobs=$(nproc)
# Without the sloppiness the compiler cache passes over what uses precompiled headers; the base makes build directories alike.
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

packages_demo="ca-certificates ccache cmake espeak-ng g++ libcli11-dev libfmt-dev libhwy-dev libjpeg-dev libopenjp2-7-dev libprotozero-dev libre2-dev libstb-dev libtiff-dev libwebp-dev mold ninja-build nlohmann-json3-dev python3-dev python3-venv zlib1g-dev"
packages_test="$packages_demo clang-16 clang-tidy-16 git libbenchmark-dev libclang-rt-16-dev libgtest-dev pkg-config qemu-user"
# Installed where the distribution has them; without them, the tests that need them are skipped.
packages_test_if_offered="chromium"

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# setup_packages TIER: installs the packages of the tier that are missing.
setup_packages() {
  local names=packages_$1
  command -v dpkg-query >/dev/null || die "no dpkg on this system; install what stands for: ${!names}"
  install_packages ${!names}
}

# install_packages NAMES: installs those that are missing; asks the network only when one is.
install_packages() {
  local missing=() name installed as_root=()
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true
  for name in "$@"; do
    grep -qx "installed $name" <<<"$installed" || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "Installing packages: ${missing[*]}"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get -qq update </dev/null || die "apt-get update failed"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}" \
    </dev/null >/dev/null || die "apt-get install failed: ${missing[*]}"
}

# Never fails: what cannot be had is left out.
setup_offered_packages() {
  local name as_root=()
  for name in $packages_test_if_offered; do
    command -v "$name" >/dev/null && continue
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || continue
      as_root=(sudo)
    fi
    apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [0-9]' || "${as_root[@]}" apt-get -qq update </dev/null >/dev/null 2>&1
    apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [0-9]' || continue
    say "Installing $name"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$name" \
      </dev/null >/dev/null 2>&1 || printf '%s could not be installed; the tests that need it are skipped\n' "$name"
  done
}

# The first Python >= 3.11 that has its development headers.
find_python() {
  local candidate path
  for candidate in /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
    path=$(command -v "$candidate") || continue
    "$path" -c 'import os, sys, sysconfig, ensurepip
sys.exit(sys.version_info < (3, 11) or not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' 2>/dev/null || continue
    printf '%s\n' "$path"
    return 0
  done
  return 1
}

# The requirement files of a tier.
requirements() {
  echo "$root/scripts/requirements/demo.txt"
  [ "$1" != test ] || echo "$root/scripts/requirements/test.txt"
}

# What an environment of this tier is made from.
requirements_sum() { cat $(requirements "$1") "$root/scripts/requirements/clients.txt" | sha256sum; }

# Quiet unless it fails: pip complains of what --no-deps left out.
pip_install() {
  local log=$venv/pip.log
  "$python" -m pip install -q --disable-pip-version-check "$@" >"$log" 2>&1 || { cat "$log" >&2; die "pip install failed"; }
}

# A virtual environment in build/venv with the pinned packages of a tier; a stamp a tier says which lists it was made from.
setup_venv() {
  local tier=$1 base list=()
  [ -x "$python" ] && [ "$(cat "$venv/.$tier.stamp" 2>/dev/null)" = "$(requirements_sum "$tier")" ] && return 0
  say "Preparing the Python environment"
  if ! [ -x "$python" ] || ! "$python" -m pip --version >/dev/null 2>&1; then
    base=$(find_python) || die "no Python >= 3.11 with headers and ensurepip was found"
    "$base" -m venv --clear "$venv" || die "python -m venv failed"
  fi
  mapfile -t list < <(requirements "$tier")
  pip_install "${list[@]/#/--requirement=}"
  pip_install --no-deps -r "$root/scripts/requirements/clients.txt"
  requirements_sum demo >"$venv/.demo.stamp"
  requirements_sum "$tier" >"$venv/.$tier.stamp"
}

# setup TIER: demo, or test (which includes it).
setup() {
  setup_packages "$1"
  [ "$1" != test ] || setup_offered_packages
  setup_venv "$1"
}

# configure PRESET [cmake options]: quiet unless it fails. A build directory that was moved here from elsewhere is made anew.
configure() {
  local preset=$1 dir=$root/build/$1 log
  shift
  mkdir -p "$root/build"
  log=$root/build/configure-$preset.log
  (cd "$root" && cmake --preset "$preset" -DPython_EXECUTABLE="$python" "$@") >"$log" 2>&1 && return 0
  rm -rf "$dir"
  (cd "$root" && cmake --preset "$preset" -DPython_EXECUTABLE="$python" "$@") >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}

# warn_again PRESET: what warned in this build is compiled anew in the next one, so that a warning is not seen once alone.
warn_again() {
  (cd "$root/build/$1" && sed -nE 's/^([^: ]+):[0-9]+:[0-9]+: warning:.*/\1/p' "../build-$1.log" | sort -u | xargs -r touch -c --)
}

# build PRESET [targets]: prints only warnings and errors.
build() {
  local preset=$1
  shift
  cmake --build "$root/build/$preset" -j "$jobs" ${1:+--target "$@"} >"$root/build/build-$preset.log" 2>&1
  local status=$?
  warn_again "$preset"
  grep -vE '^\[[0-9]+/[0-9]+\]|^ninja: (Entering|no work)|^-- ' "$root/build/build-$preset.log" | head -n 200
  return $status
}

# build_with_progress PRESET [targets]: one line that tells how far the build is (a line a minute, where the output is no terminal); prints
# errors, and leaves warnings to the log.
build_with_progress() {
  local preset=$1 log=$root/build/build-$1.log
  shift
  cmake --build "$root/build/$preset" -j "$jobs" ${1:+--target "$@"} 2>&1 | tee "$log" | show_progress
  local status=${PIPESTATUS[0]}
  warn_again "$preset"
  [ "$status" = 0 ] && return 0
  grep -E -A 5 'error:|^FAILED' "$log" | head -n 60
  return 1
}

# Reads what ninja prints.
show_progress() {
  local line steps='' began=$SECONDS said=$SECONDS every=60 form='%s steps, %d s\n'
  [ ! -t 1 ] || { every=1 form='\r%s steps, %d s '; }
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    steps="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
    [ $((SECONDS - said)) -ge $every ] || continue
    said=$SECONDS
    printf "$form" "$steps" $((SECONDS - began))
  done
  [ -z "$steps" ] || [ $((SECONDS - began)) -lt 5 ] || printf "$form" "$steps" $((SECONDS - began))
  [ ! -t 1 ] || printf '\n'
}
