#!/usr/bin/env bash
# redis.sh: dht serve, the same on two nodes, and Debian's redis-server, asked by
# redis-benchmark in turn: requests in a second, how many times as many as redis's those
# of dht are, and how many times as many as one node's those of two.
#
#   apps/dht/bench/redis.sh [ROUNDS [ROW ...]]       medians of 5 rounds, and all rows, by default
#
# It needs redis-server and redis-benchmark (Debian: redis-server, redis-tools) and
# four free ports, PORT to PORT + 3, 7379 by default. DHT is the program, built anew by default, and FLAGS
# are more flags of dht serve. Redis answers on one core; dht has as many as GOMAXPROCS says, all by
# default, of which redis-benchmark takes one. Of two nodes, one is asked.
set -euo pipefail

rounds=${1:-5}
shift || true
port=${PORT:-7379}
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
pids=()

finish() {
	for pid in "${pids[@]}"; do kill -INT "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT

for program in redis-server redis-benchmark redis-cli; do
	command -v "$program" >/dev/null || { echo "redis.sh: $program is not installed" >&2; exit 1; }
done

dht=${DHT:-$work/dht}
[ -n "${DHT:-}" ] || (cd "$root" && go build -o "$dht" ./apps/dht)
# shellcheck disable=SC2086
"$dht" serve -listen "127.0.0.1:$port" ${FLAGS:-} 2>"$work/dht.log" &
pids+=($!)
redis-server --bind 127.0.0.1 --port $((port + 1)) --save '' --appendonly no --dir "$work" >"$work/redis.log" &
pids+=($!)
# shellcheck disable=SC2086
"$dht" serve -nodes 2 -listen "127.0.0.1:$((port + 2))" ${FLAGS:-} >"$work/two.log" 2>&1 &
pids+=($!)

for p in "$port" $((port + 1)) $((port + 2)); do
	tries=0
	until redis-cli -p "$p" ping >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || { echo "redis.sh: nobody answers on port $p" >&2; cat "$work"/*.log >&2; exit 1; }
		sleep 0.1
	done
done

# The rows, and what redis-benchmark is told for each. Of long values, nearly all keys exist after the first
# round, or all are new.
rows=("-P 16" "-P 1" "64 KiB" "1 MiB" "64 KiB new" "1 MiB new")
[ $# -eq 0 ] || rows=("$@")
flags() {
	case $1 in
	"-P 16") echo -t set,get -P 16 -r 100000 -n 1000000 ;;
	"-P 1") echo -t set,get -r 100000 -n 100000 ;;
	"64 KiB") echo -t set,get -d 65536 -r 1000 -n 10000 ;;
	"1 MiB") echo -t set,get -d 1048576 -r 100 -n 1000 ;;
	"64 KiB new") echo -t set -d 65536 -r 1000000000 -n 4000 ;;
	"1 MiB new") echo -t set -d 1048576 -r 1000000000 -n 200 ;;
	esac
}

# ask PORT ROW WHO: lines of ROW, WHO, TEST and RATE.
ask() {
	# shellcheck disable=SC2046
	redis-benchmark -p "$1" -c 50 $(flags "$2") --csv | tr -d '"' | awk -F, -v r="$2" -v w="$3" '$1 == "SET" || $1 == "GET" { print r "," w "," $1 "," $2 }'
}

for row in "${rows[@]}"; do
	for _ in $(seq "$rounds"); do
		ask "$port" "$row" dht
		ask $((port + 1)) "$row" redis
		ask $((port + 2)) "$row" two
	done
done >"$work/rates"

# median ROW WHO TEST
median() {
	awk -F, -v r="$1" -v w="$2" -v t="$3" '$1 == r && $2 == w && $3 == t { print $4 }' "$work/rates" | sort -n |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

echo "$(nproc) CPUs, median of $rounds rounds, requests per second"
printf '%-11s %-5s %12s %12s %12s %9s %9s\n' "" "" dht redis "two nodes" "of redis" "of one"
for row in "${rows[@]}"; do
	for test in SET GET; do
		ours=$(median "$row" dht $test)
		[ -n "$ours" ] || continue
		awk -v r="$row" -v t="$test" -v a="$ours" -v b="$(median "$row" redis $test)" -v c="$(median "$row" two $test)" \
			'BEGIN { printf "%-11s %-5s %12.0f %12.0f %12.0f %9.2f %9.2f\n", r, t, a, b, c, a / b, c / a }'
	done
done
