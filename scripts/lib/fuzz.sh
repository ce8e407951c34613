# The stage fuzz of scripts/test. Two jobs side by side: models that run in one, loading and then graph text in the other. Each target tries a
# fixed number of inputs, from the corpus of the repository alone and one seed (FUZZ_SEED=7: another), so that a commit gets the same verdict
# on a slow and a fast machine, in a clean and a used tree. FUZZ_SECONDS=7200, or FUZZ_SEED=0, explores instead: the targets share that much
# time (300), the corpus grows in build/fuzz, and seed 0 tries other inputs each time. What ends a target stays in build/fuzz, and its path is
# printed.
stage_fuzz() { fuzz_targets 4000 4000 10000; }
stage_fuzz_whole() { fuzz_targets 20000 29000 250000; }

# fuzz_targets RUN LOAD GRAPH_TEXT: so many inputs of each target.
fuzz_targets() {
  local runs failed=0
  configure asan -DRH_BUILD_TESTS=ON -DRH_WERROR=ON && build asan load_fuzz run_fuzz graph_text_fuzz || return 1
  fuzz run_fuzz model "$1" 2 &
  runs=$!
  fuzz load_fuzz model "$2" 4 || failed=1
  fuzz graph_text_fuzz graph_text "$3" 4 || failed=1
  wait $runs || failed=1
  [ $failed = 1 ] || echo '{"passed": 3, "failed": 0}' >"$results/${stage:-fuzz}.counts.json"
  return $failed
}

# fuzz TARGET CORPUS INPUTS PART: so many inputs, or one PART-th of the time to explore.
fuzz() {
  fuzz_once "$@" && return 0
  leak_checker_failed "$root/build/fuzz/$1-crashes/log" && fuzz_once "$@"
}

fuzz_once() {
  local grown=$root/build/fuzz/$1 crashes=$root/build/fuzz/$1-crashes seed=${FUZZ_SEED:-1} limits corpus=$root/build/asan/fuzz_corpus same=() status input
  if [ -n "${FUZZ_SECONDS:-}" ] || [ "$seed" = 0 ]; then
    limits=(-max_total_time=$((${FUZZ_SECONDS:-300} / $4)))
  else
    grown=$grown-fresh
    rm -rf "$grown"
    limits=(-runs="$3" -reload=0 -max_total_time=1200)  # the time is for a machine where something is wrong
    setarch -R true 2>/dev/null && same=(setarch -R)    # comparisons of addresses count as values seen
  fi
  mkdir -p "$grown" "$crashes"
  (cd "$crashes" && ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=512:detect_leaks=1:allow_addr2line=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
    "${same[@]}" "$root/build/asan/tests/$1" "$grown" "$corpus/$2" "$corpus/found_$2" "$root/tests/fuzz/regressions/$2" -artifact_prefix="$crashes/" "${limits[@]}" \
      -seed="$seed" -max_len=8192 -timeout=60 -rss_limit_mb=4096 -malloc_limit_mb=0 -use_value_profile=1 -entropic=0 -print_final_stats=1 >"$crashes/log" 2>&1)
  status=$?
  printf '%s: %s inputs\n' "$1" "$(awk -F: '/stat::number_of_executed_units/ {n += $NF} END {print n + 0}' "$crashes/log")"
  [ $status -eq 0 ] && return 0
  grep -hE -B 3 -A 12 'ERROR: |runtime error:|terminate called' "$crashes/log" | cut -c 1-200 | head -30
  grep -hE 'SUMMARY:|Test unit written to' "$crashes/log" || tail -n 5 "$crashes/log"
  input=$(sed -n 's/.*Test unit written to //p' "$crashes/log" | tail -n 1)
  if [ -s "$input" ]; then
    printf "The input, for 'base64 -d | gunzip':\n%s\n" "$(gzip -9nc "$input" | base64 -w 0)"
  fi
  printf 'A target failed. Fix it, and keep its input in tests/fuzz/regressions/%s.\n' "$2"
  return 1
}
