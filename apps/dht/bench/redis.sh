#!/usr/bin/env bash
# redis.sh: dht serve, the same on two nodes, and Debian's redis-server, asked by
# redis-benchmark in turn: requests in a second, how many times as many as redis's those
# of dht are, and how many times as many as one node's those of two.
#
#   apps/dht/bench/redis.sh [ROUNDS]       medians of 5 rounds by default
#
# It needs redis-server and redis-benchmark (Debian: redis-server, redis-tools) and
# four free ports, PORT to PORT + 3, 7379 by default. FLAGS are more flags of dht
# serve. Redis answers on one core; dht has as many as GOMAXPROCS says, all by
# default, of which redis-benchmark takes one. Of two nodes, one is asked.
set -euo pipefail

rounds=${1:-5}
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

(cd "$root" && go build -o "$work/dht" ./apps/dht)
# shellcheck disable=SC2086
"$work/dht" serve -listen "127.0.0.1:$port" ${FLAGS:-} 2>"$work/dht.log" &
pids+=($!)
redis-server --bind 127.0.0.1 --port $((port + 1)) --save '' --appendonly no --dir "$work" >"$work/redis.log" &
pids+=($!)
# shellcheck disable=SC2086
"$work/dht" serve -nodes 2 -listen "127.0.0.1:$((port + 2))" ${FLAGS:-} >"$work/two.log" 2>&1 &
pids+=($!)

for p in "$port" $((port + 1)) $((port + 2)); do
	tries=0
	until redis-cli -p "$p" ping >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || { echo "redis.sh: nobody answers on port $p" >&2; cat "$work"/*.log >&2; exit 1; }
		sleep 0.1
	done
done

# ask PORT DEPTH: lines of TEST RATE.
ask() {
	redis-benchmark -p "$1" -t set,get -c 50 -r 100000 -P "$2" -n $((100000 * ($2 > 1 ? 10 : 1))) --csv |
		tr -d '"' | awk -F, '$1 == "SET" || $1 == "GET" { print $1, $2 }'
}

for depth in 16 1; do
	for _ in $(seq "$rounds"); do
		ask "$port" "$depth" | sed "s/^/$depth dht /"
		ask $((port + 1)) "$depth" | sed "s/^/$depth redis /"
		ask $((port + 2)) "$depth" | sed "s/^/$depth two /"
	done
done >"$work/rates"

# median DEPTH WHO TEST
median() {
	awk -v d="$1" -v w="$2" -v t="$3" '$1 == d && $2 == w && $3 == t { print $4 }' "$work/rates" | sort -n |
		awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

echo "$(nproc) CPUs, median of $rounds rounds, requests per second; targets: of redis 1.0 at -P 16 and 0.8 at -P 1, of one node 0.6"
printf '%-6s %-5s %12s %12s %12s %9s %9s\n' "" "" dht redis "two nodes" "of redis" "of one"
for depth in 16 1; do
	for test in SET GET; do
		ours=$(median $depth dht $test)
		theirs=$(median $depth redis $test)
		two=$(median $depth two $test)
		awk -v d="-P $depth" -v t="$test" -v a="$ours" -v b="$theirs" -v c="$two" \
			'BEGIN { printf "%-6s %-5s %12.0f %12.0f %12.0f %9.2f %9.2f\n", d, t, a, b, c, a / b, c / a }'
	done
done
