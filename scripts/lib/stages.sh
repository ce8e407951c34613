# What each stage of scripts/test runs: stage_<name>, for the rows of scripts/stages.toml. A stage that this machine cannot run says why with
# leave_out. Sourced by scripts/test, which sets results, the folder of the reports.

# Executables that run under the sanitizers: the parts that read untrusted bytes, own memory or share state between threads.
asan_tests=(base graph ops_schema ops onnx passes partition settings session compute failing_memory providers kit capi fuzz)
tsan_tests=(base partition session providers kit)
# Executables that an emulator of a 64-bit Arm processor runs.
arm64_tests=(base passes session compute)
# Executables that Wine runs.
windows_tests=(base session capi compute)

# leave_out REASON: the stage at hand ends here. It counts neither as passed nor as failed.
leave_out() {
  printf '%s\n' "$*" >"$results/left_out"
  exit 77
}

# Those of the names that are test executables here.
existing() {
  local name
  for name in "$@"; do [ -d "tests/$name" ] && ls tests/"$name"/*_test.cc >/dev/null 2>&1 && echo "$name"; done
}

# leak_checker_failed LOG: whether it broke off itself ("Tracer caught signal 11"), as it does now and then, having found nothing: such a
# program is run again.
leak_checker_failed() {
  grep -q 'LeakSanitizer has encountered a fatal error' "$1" && ! grep -qE 'ERROR: [A-Za-z]*Sanitizer|runtime error:' "$1"
}

# ctest_preset PRESET [names]: GoogleTest writes its counts, ctest a report that also knows of executables that died.
ctest_preset() {
  local preset=$1 pattern=. log
  shift
  [ $# -eq 0 ] || pattern="^($(IFS='|'; echo "$*"))(_[01])?\$"
  mkdir -p "$results/$preset"
  log=$results/$preset.ctest.log
  local run=(env GTEST_OUTPUT="json:$results/$preset/" GTEST_BRIEF=1 ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --no-tests=error --timeout 1800)
  "${run[@]}" -R "$pattern" --output-junit "$results/$preset.ctest.xml" 2>&1 | tee "$log" && return 0
  leak_checker_failed "$log" || return 1
  say "The leak checker failed: what it ended once more"
  "${run[@]}" --rerun-failed --output-junit "$results/$preset.again.ctest.xml"
}

pytest() { "$python" -m pytest --junitxml="$results/$1.pytest.xml" "${@:2}"; }

# preset_tests PRESET names: builds those executables with a preset and runs them. Warnings of our own code are errors.
preset_tests() {
  local preset=$1 names
  shift
  mapfile -t names < <(existing "$@")
  configure "$preset" -DRH_BUILD_TESTS=ON -DRH_WERROR=ON && build "$preset" "${names[@]/#/test_}" && ctest_preset "$preset" "${names[@]}"
}

# After a demo the kernels of this machine alone are there: that is enough for the quick stages. A warning fails the stage as -Werror would,
# which would have all compiled anew that a demo left.
stage_build() {
  local kernels=all bench=ON
  if [ "$quick" = 1 ]; then
    bench=OFF
    ! grep -q '^RH_KERNELS:[A-Z]*=native$' build/release/CMakeCache.txt 2>/dev/null || kernels=native
  fi
  configure release -DRH_BUILD_TESTS=ON -DRH_BUILD_BENCH=$bench -DRH_KERNELS=$kernels && build release || return 1
  ! grep 'warning:' build/build-release.log || { say "Warnings of our own code fail the stage"; return 1; }
}

# The faults that .clang-tidy names, in what the last day changed.
stage_tidy() { configure dev -DRH_BUILD_TESTS=ON -DRH_BUILD_PYTHON=ON && "$python" scripts/tidy.py --seconds 120 --counts "$results/tidy.counts.json"; }

# Operator and model tests compare with the stock library; not under the sanitizers, which it was not built for.
stage_cpp() {
  local stock
  stock=$("$python" -c 'import glob, importlib.util as u; print(glob.glob(u.find_spec("onnxruntime").submodule_search_locations[0] + "/capi/libonnxruntime.so.*")[0])') &&
    RH_STOCK_ORT=$stock ctest_preset release &&
    RH_CAPI_LIBRARY=$stock build/release/tests/test_providers --gtest_brief=1  # our providers in the stock library, from the same files
}
stage_python() { pytest python python/tests tests/errors tests/options tests/wrapper tests/plugins; }
stage_cli() { pytest cli tests/cli; }
stage_docs() { pytest docs tests/docs tests/stands tests/packages/test_install.py tests/packages/test_types.py; }
stage_models() { pytest models tests/models tests/kit; }
stage_conformance() {
  "$python" tests/conformance/run.py --module roundhouse --counts "$results/conformance.counts.json" && "$python" tests/conformance/cells.py
}
stage_differential() {
  pytest differential tests/differential && generated differential --count 1000 --small_count 1000 --passes 300 --patterns 20000 --edges 2500 --models 60 --graphs 60
}
# The same generators at length.
stage_differential_whole() { stage_build && generated differential_whole --count 4000 --small_count 4000 --passes 1000 --patterns 60000 --edges 0 --models 200 --graphs 500 --all; }

# generated STAGE: generated nodes, graphs and files, so many of each, held to other implementations.
generated() {
  local stage=$1 count small_count passes patterns edges models graphs all=()
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      --all) all=(--all) ;;
      *) local "${1#--}=$2"; shift ;;
    esac
    shift
  done
  "$python" tests/differential/run.py --count "$count" --counts "$results/$stage.operators.counts.json" &&
    "$python" tests/differential/run.py --small --count "$small_count" --counts "$results/$stage.small_operators.counts.json" &&
    "$python" tests/differential/passes.py --count "$passes" --counts "$results/$stage.passes.counts.json" &&
    "$python" tests/differential/patterns.py --count "$patterns" --counts "$results/$stage.patterns.counts.json" &&
    "$python" tests/differential/edges.py --count "$edges" --counts "$results/$stage.edges.counts.json" &&
    "$python" tests/differential/files.py --models "$models" --counts "$results/$stage.files.counts.json" &&
    "$python" tests/differential/open_batches.py --count "$graphs" "${all[@]}" --counts "$results/$stage.open_batches.counts.json"
}

# Official node models, changed at random from fixed seeds: none may crash or hang.
stage_mutants() { "$python" tests/fuzz/mutate_models.py --count 2000 --timeout 120 --counts "$results/mutants.counts.json"; }

# The wheels that scripts/wheel makes: that of the package, in an environment of its own that sees this one's other packages, passes the
# package's tests; both, in an environment that has numpy alone, are what a user gets.
stage_wheel() {
  local dir=$root/build/wheel-test
  rm -rf "$dir" && mkdir -p "$dir" &&
    ROUNDHOUSE_WHEELS=$dir scripts/wheel native onnxruntime >"$dir/pip.log" 2>&1 || { tail -n 40 "$dir/pip.log"; return 1; }
  "$python" -m venv "$dir/venv" && "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps "$dir"/roundhouse-*.whl || return 1
  "$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' >"$(echo "$dir"/venv/lib/python3*/site-packages)/test_packages.pth"
  (cd "$dir" && unset PYTHONPATH ROUNDHOUSE_LIBRARY_DIR && venv/bin/python -m pytest --junitxml="$results/wheel.pytest.xml" "$root/python/tests") &&
    ROUNDHOUSE_WHEELS=$dir pytest wheel.packages tests/packages/test_wheels.py
}

# Wheels for other systems and packages of other languages: on root file systems, each Python, and applications.
stage_packages() {
  local dir=$root/build/portable-wheels
  install_packages strace
  rm -rf "$dir" && mkdir -p "$dir" && stage_build &&
    ROUNDHOUSE_WHEELS=$dir scripts/wheel manylinux >"$dir/log" 2>&1 || { tail -n 40 "$dir/log"; return 1; }
  ROUNDHOUSE_PORTABLE_WHEELS=$dir pytest packages tests/packages/portable
}

asan_options() {
  export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:detect_stack_use_after_return=1:allow_addr2line=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
}
stage_asan() { asan_options && preset_tests asan "${asan_tests[@]}"; }
stage_tsan() { TSAN_OPTIONS=halt_on_error=1:allocator_may_return_null=1 preset_tests tsan "${tsan_tests[@]}"; }

# The kernels of processors without AVX, one half on one with SSE4, one on one without, run by an emulator: an instruction that such a
# processor lacks ends the program.
stage_old_cpu() {
  local shard first failed=0 cpus=(Nehalem qemu64)
  mkdir -p "$results/old_cpu"
  for shard in 0 1; do
    GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$shard GTEST_OUTPUT=json:$results/old_cpu/test_compute_$shard.json GTEST_BRIEF=1 RH_SWEEPS=${RH_SWEEPS:-part} \
      qemu-x86_64 -cpu "${cpus[shard]}" build/release/tests/test_compute &
    first=${first:-$!}
  done
  wait $! || failed=1
  wait "$first" || failed=1
  return $failed
}

# The emulator itself ends when a process with threads forks.
stage_arm64() { RH_SWEEPS=part GTEST_FILTER=-ThreadPool.child_of_a_fork* preset_tests arm64 "${arm64_tests[@]}"; }

# wine_prefix: a Windows 10 for Wine, which first makes it.
wine_prefix() {
  export WINEPREFIX=$root/build/windows/wine WINEDEBUG=-all
  grep -qs '"CurrentMajorVersionNumber"=dword:0000000a' "$WINEPREFIX/system.reg" || wine winecfg -v win10 >"$results/windows.wine.log" 2>&1
}

# Cross-compiled by zig, run by Wine, with kernels for AVX2: the unit tests, then programs, plugins, the command and the wheel.
# Left out is a test that takes powl for exact: MinGW's is wrong by a tenth of a double's last bit.
stage_windows() {
  local stand=$results/windows.stand.log
  scripts/stand windows -- true >"$stand" 2>&1 || leave_out "zig cannot be installed: $(tail -n 1 "$stand")"
  export ZIG=$root/build/stands/windows/ziglang/zig ROUNDHOUSE_ISA=avx2
  stage_build && configure windows -DRH_BUILD_TESTS=ON -DRH_KERNELS=avx2 &&
    build windows roundhouse onnxruntime_alias roundhouse_cli sample_vendor provider_{sample,fake_device,example,openvino,cuda} "${windows_tests[@]/#/test_}" &&
    wine_prefix && RH_SWEEPS=part GTEST_FILTER=-*PowerTest.positive_doubles/* ctest_preset windows "${windows_tests[@]}" && scripts/wheel windows && pytest windows tests/windows
}

# The assertions of the standard library and our own, without optimisation but in kernels.
stage_debug() { RH_SWEEPS=part preset_tests debug "${asan_tests[@]}"; }

# on_packages STAGE SCRIPT: builds; the script gets packages for itself. Its exit code 77 leaves the stage out, with the reason that it printed.
on_packages() {
  stage_build || return 1
  "$python" "$2" --counts "$results/$1.counts.json" 2>&1 | tee "$results/$1.out"
  local status=${PIPESTATUS[0]}
  [ "$status" != 77 ] || leave_out "$(sed -n 's/^left out: //p' "$results/$1.out" | tail -n 1)"
  return "$status"
}

# on_openvino STAGE SCRIPT [arguments]: a script of tests/vendors with OpenVINO's own library on the CPU.
on_openvino() {
  scripts/stand openvino -- "$python" "tests/vendors/$2.py" --provider OpenVINOExecutionProvider --counts "$results/$1.$2.counts.json" "${@:3}"
}

# Builds, and installs OpenVINO.
openvino_stand() {
  stage_build || return 1
  scripts/stand openvino -- true || leave_out "OpenVINO's package cannot be installed"
}

# What only OpenVINO's own library can show, whole models in both hosts, and some generated graphs.
stage_openvino() {
  openvino_stand &&
    scripts/stand openvino -- "$python" -m pytest --junitxml="$results/openvino.pytest.xml" tests/vendors/test_openvino{,_left,_quantized}.py &&
    on_openvino openvino models && on_openvino openvino generated --count 100
}

# The official cases, and generated models of one node.
stage_openvino_nodes() { openvino_stand && on_openvino openvino_nodes cases --least 1490 && on_openvino openvino_nodes nodes; }

# Generated graphs at length.
stage_openvino_graphs() { openvino_stand && on_openvino openvino_graphs generated --count 2000; }

# MIGraphX's own library on its interpreter, which is slow: small models, models with small inputs, the official cases of operators.
stage_migraphx() {
  local vendors=tests/vendors name=MIGraphXExecutionProvider stand=$results/migraphx.stand.log
  stage_build || return 1
  scripts/stand migraphx -- true >"$stand" 2>&1 || leave_out "MIGraphX's packages cannot be had: $(tail -n 1 "$stand")"
  scripts/stand migraphx -- "$python" -m pytest --junitxml="$results/migraphx.pytest.xml" $vendors/test_migraphx.py &&
    scripts/stand migraphx -- "$python" $vendors/models.py --provider $name --size 128=8 --size 129=9 --size 224=64 --model mobilenetv3_large_100 \
      --model resnet50 --model distilbert --model bert_base --counts "$results/migraphx.models.counts.json" &&
    scripts/stand migraphx -- "$python" $vendors/nodes.py --provider $name --count 40 --counts "$results/migraphx.nodes.counts.json" &&
    scripts/stand migraphx -- "$python" $vendors/decode.py --provider $name --steps 6 --most 4 &&
    scripts/stand migraphx -- "$python" $vendors/cases.py --provider $name --filter '^(node|simple|pytorch)' --least 1150 --seconds 300 \
      --counts "$results/migraphx.cases.counts.json"
}

# coremltools in the place of Core ML: it loads what the provider writes, and evaluates it.
stage_coreml() {
  local vendors=tests/vendors name=CoreMLExecutionProvider
  stage_build || return 1
  scripts/stand coreml -- true || leave_out "coremltools cannot be installed"
  scripts/stand coreml -- "$python" -m pytest --junitxml="$results/coreml.pytest.xml" $vendors/test_coreml.py tests/stands/coreml &&
    scripts/stand coreml -- "$python" $vendors/models.py --provider $name --host roundhouse --model mobilenetv3_large_100 --model resnet50 \
      --model distilbert --model vit_small_patch16_224 --counts "$results/coreml.models.counts.json" &&
    scripts/stand coreml -- "$python" $vendors/cases.py --provider $name --filter '^(node|simple|pytorch)' --least 800 --seconds 300 \
      --counts "$results/coreml.cases.counts.json"
}

# The official cases of operators that GPUs have kernels for.
gpu_cases='^node/test_(add|sub|mul|div|relu|softmax|matmul|gemm|cast_|where|clip|max|min|mean|sum_|pow|mod|equal|less|greater|and|or|xor|not|abs|neg|exp|log|sqrt|elu|selu|celu|gelu|hardsw|hardsig|leaky|prelu|sigmoid|tanh|erf|sign|soft|thresh|shrink|mish|swish|isnan|isinf|bitwise|acos|asin|atan|cos|sin|tan|floor|ceil|round|recip|reduce_|layer_normalization|gather|scatter|resize|upsample|pad_|constant_pad|edge_pad|reflect_pad|wrap_pad|cumsum|top_k|arg|triu|tril|onehot|depthto|spaceto|convtranspose|instancenorm|group_norm|quantizelinear|dequantizelinear|dynamicquant|matmulinteger|attention|rotary|if_|if$|loop|slice|concat|split_|transpose|conv_|basic_conv|averagepool|maxpool|global|batchnorm|expand|flatten|squeeze|unsqueeze|tile|range|constantofshape)'

# CUDA's provider on the stand-in driver and compiler: its own tests, a model, the official cases of operators that it has kernels for.
stage_cuda() {
  local vendors=tests/vendors name=CUDAExecutionProvider stand=$results/cuda.stand.log
  stage_build || return 1
  scripts/stand cuda -- true >"$stand" 2>&1 || leave_out "the stand cuda cannot be made: $(tail -n 1 "$stand")"
  scripts/stand cuda -- "$python" -m pytest --junitxml="$results/cuda.pytest.xml" $vendors/test_cuda*.py &&
    scripts/stand cuda -- "$python" $vendors/models.py --provider $name --size 224=64 --size 128=8 --model mobilenetv3_large_100 --model distilbert \
      --counts "$results/cuda.models.counts.json" &&
    scripts/stand cuda -- "$python" $vendors/nodes.py --provider $name --family attention --counts "$results/cuda.nodes.counts.json" &&
    scripts/stand cuda -- "$python" $vendors/cases.py --provider $name --least 750 --seconds 600 --counts "$results/cuda.cases.counts.json" \
      --filter "$gpu_cases"
}

# hip_stand STAGE ARCHITECTURE: the stand of HIP for such a device.
hip_stand() {
  local stand=$results/$1.stand.log
  stage_build || return 1
  scripts/stand hip -- true >"$stand" 2>&1 || leave_out "the stand hip cannot be made: $(tail -n 1 "$stand")"
  export RH_STAND_ARCHITECTURE=$2
}

# ROCm's on the same stand under HIP's names: its own tests in both hosts, and models.
on_hip() {
  local vendors=tests/vendors name=ROCMExecutionProvider
  hip_stand "$1" "$2" && scripts/stand hip -- "$python" -m pytest --junitxml="$results/$1.pytest.xml" $vendors/test_cuda*.py &&
    scripts/stand hip -- "$python" $vendors/models.py --provider $name --size 224=64 --size 128=8 --model mobilenetv3_large_100 --model distilbert \
      --counts "$results/$1.models.counts.json"
}
stage_hip() { on_hip hip gfx1100; }
stage_hip_wide() { on_hip hip_wide gfx90a; }

# The official cases; then hiprtc itself compiles the kernels that came up.
stage_hip_cases() {
  local stand=$results/hip_cases.hiprtc.log sources=$root/build/stands/hip_sources
  hip_stand hip_cases gfx90a || return 1
  rm -rf "$sources" && mkdir -p "$sources"
  RH_STAND_SOURCES=$sources scripts/stand hip -- "$python" tests/vendors/cases.py --provider ROCMExecutionProvider --least 750 --seconds 600 \
    --counts "$results/hip_cases.cases.counts.json" --filter "$gpu_cases" || return 1
  unset RH_STAND_ARCHITECTURE
  scripts/stand hiprtc -- true >"$stand" 2>&1 || leave_out "hiprtc's packages cannot be had: $(tail -n 1 "$stand")"
  scripts/stand hiprtc -- "$python" tests/stands/hip/compile_sources.py "$sources" gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201 \
    --counts "$results/hip_cases.hiprtc.counts.json"
}

# Providers that others built, in both hosts.
stage_plugins() { on_packages plugins tests/foreign_plugins/run.py; }

# Trained models that packages carry, on both runtimes.
stage_real_models() { on_packages real_models tests/real_models/run.py; }

# The kernels with AVX-512 under the sanitizers, and plain code beside them.
stage_asan_kernels() {
  grep -q ' avx512vl ' /proc/cpuinfo || leave_out "this processor has no AVX-512"
  asan_options && preset_tests asan_kernels compute
}
