# Shared by the benchmarks: the programs under test, a folder of their own, a server that is stopped at the end.
bin=$(cd "${WS_BIN_DIR:-../../build/bin}" && pwd)
PATH="$bin:$PATH"
work=$(mktemp -d)
export XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
unset WS_TOKEN WS_TOKEN_FILE WS_PROFILE WS_BASE_URL WS_FORMAT WS_CONFIG_DIR WS_WORKSPACE
server=
finish() {
  [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT

# A member of the ready file or of any flat JSON on stdin.
member() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1; }

# start_mock [FLAG...]: sets base_url and token.
start_mock() {
  ws-mock --listen 127.0.0.1:0 --ready-file "$work/ready.json" --log off "$@" >/dev/null &
  server=$!
  for _ in $(seq 500); do [ -s "$work/ready.json" ] && break; sleep 0.01; done
  base_url=$(member base_url <"$work/ready.json")
  token=$(member token <"$work/ready.json")
}

# medians NAME=COMMAND...: hyperfine without a shell, medians in milliseconds, and ratios to the first. How they end does
# not matter.
medians() {
  local names=() commands=() pair
  for pair in "$@"; do names+=("${pair%%=*}"); commands+=("${pair#*=}"); done
  hyperfine -N -i --warmup 5 --runs "${RUNS:-40}" --export-csv "$work/times.csv" "${commands[@]}" >/dev/null 2>&1
  tail -n +2 "$work/times.csv" | awk -F, -v names="${names[*]}" '
    BEGIN { split(names, name, " ") }
    { median = $(NF-4) * 1000; if (NR == 1) first = median
      printf "  %-34s %9.2f ms   ours is %5.2f x\n", name[NR], median, first / median }'  # CSV: command,mean,stddev,median,user,system,min,max
}
