#!/bin/bash
# Builds LLK23 in C with OpenMP and with MPI, runs it and ours in turn, and
# prints the medians side by side. See README.md.
set -euo pipefail

usage() {
	echo "usage: compare.sh [-n ROUNDS] [-c CORES] [-l] [ROWSxCOLUMNS:DOWNxACROSS:ITERATIONS:KERNEL ...]" >&2
	echo "       -l adds 8000x8000 elements, which take 3.1 GB" >&2
	exit 2
}

rounds=5 cores=$(nproc) cases=(2000x2000:4x4:100:fast 2000x2000:4x4:100:listing 1024x1024:64x64:100:fast)
while getopts n:c:l option; do
	case $option in
	n) rounds=$OPTARG ;;
	c) cores=$OPTARG ;;
	l) cases+=(8000x8000:4x4:20:fast) ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 0 ] || cases=("$@")

missing=()
command -v gcc >/dev/null || missing+=(gcc)
command -v mpicc >/dev/null || missing+=(libopenmpi-dev)
command -v mpirun >/dev/null || missing+=(openmpi-bin)
if [ ${#missing[@]} -gt 0 ]; then
	echo "compare.sh: missing Debian packages: ${missing[*]} (apt-get install ${missing[*]})" >&2
	exit 1
fi

here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Our kernels fuse nothing. The peers are built like that, to compare bits, and
# once more as their compiler likes it.
for contract in off fast; do
	flags=(-O3 -march=native -std=gnu11 "-ffp-contract=$contract")
	gcc "${flags[@]}" -fopenmp "$here/llk23_omp.c" -o "$dir/omp-$contract"
	mpicc "${flags[@]}" "$here/llk23_mpi.c" -o "$dir/mpi-$contract"
done
go -C "$here/../.." build -o "$dir/llk23" ./apps/llk23
# LLK23 is another program to measure as ours, with the same flags.
ours=${LLK23:-$dir/llk23}
root=()
[ "$(id -u)" != 0 ] || root=(--allow-run-as-root)

# peer NAME prints ns per element and iteration, and the checksum.
peer() {
	local contract=off
	[[ $1 != *fused ]] || contract=fast
	case $1 in
	sequential*) OMP_NUM_THREADS=1 "$dir/omp-$contract" "$rows" "$cols" 1 1 "$iters" "$kernel" "${@:2}" ;;
	OpenMP*) OMP_NUM_THREADS=$cores "$dir/omp-$contract" "$rows" "$cols" "$down" "$across" "$iters" "$kernel" "${@:2}" ;;
	MPI*) mpirun "${root[@]}" --oversubscribe -n "$cores" "$dir/mpi-$contract" \
		"$rows" "$cols" "$down" "$across" "$iters" "$kernel" "${@:2}" ;;
	esac
}

# ours FIELD NODES [SWEEPS] prints a field of our report. All nodes share the same cores.
# With 0 sweeps in a pass the grid chooses.
ours() {
	local blocks=(-grid "${down}x$across" -block "$((rows / down))x$((cols / across))" -sweeps "${3:-1}")
	GOMAXPROCS=$cores taskset -c "0-$((cores - 1))" "$ours" -nodes "$2" "${blocks[@]}" \
		-iters "$iters" -kernel "$kernel" -verify=false -init noise -json | sed -E "s/.*\"$1\": *\"?([^,\"}]*).*/\1/"
}

parse() {
	if ! [[ $1 =~ ^([0-9]+)x([0-9]+):([0-9]+)x([0-9]+):([0-9]+):(listing|fast)$ ]]; then
		echo "compare.sh: $1 is not ROWSxCOLUMNS:DOWNxACROSS:ITERATIONS:KERNEL, like 2000x2000:4x4:100:fast" >&2
		exit 2
	fi
	rows=${BASH_REMATCH[1]} cols=${BASH_REMATCH[2]} down=${BASH_REMATCH[3]} across=${BASH_REMATCH[4]}
	iters=${BASH_REMATCH[5]} kernel=${BASH_REMATCH[6]}
	if ((rows % down || cols % across)); then
		echo "compare.sh: $1: the blocks are not of one size, which ours have to be" >&2
		exit 2
	fi
}

for c in "${cases[@]}"; do parse "$c"; done

for kernel in listing fast; do
	rows=240 cols=360 down=4 across=4 iters=10
	peer OpenMP "$dir/matrix" >/dev/null
	want=$(sha256sum <"$dir/matrix" | cut -d' ' -f1)
	peer MPI "$dir/matrix" >/dev/null
	[ "$(sha256sum <"$dir/matrix" | cut -d' ' -f1)" = "$want" ] || { echo "compare.sh: MPI and OpenMP differ, $kernel kernel" >&2; exit 1; }
	for form in "1" "2" "1 4"; do
		got=$(ours sha256 $form)
		[ "$got" = "$want" ] || { echo "compare.sh: ours and the peers differ, $kernel kernel, nodes and sweeps $form: sha256 $got, want $want" >&2; exit 1; }
	done
done
echo "Ours and the peers compute the same bits with both kernels."

for c in "${cases[@]}"; do
	parse "$c"
	names=(sequential OpenMP MPI)
	for name in "${names[@]}"; do names+=("$name,fused"); done
	names+=(ours)
	names+=("ours,default")
	if ((down * across > 1)); then names+=("ours,2 nodes" "ours,default,2"); fi
	rm -f "$dir"/times-*
	for ((round = 0; round < rounds; round++)); do
		for name in "${names[@]}"; do
			if [[ $name = ours* ]]; then
				form=1
				[ "$name" != "ours,2 nodes" ] || form=2
				[ "$name" != "ours,default" ] || form="1 0"
				[ "$name" != "ours,default,2" ] || form="2 0"
				ours ns_per_element $form >>"$dir/times-$name"
				continue
			fi
			read -r ns sum < <(peer "$name")
			echo "$ns" >>"$dir/times-$name"
			[[ $name == *fused ]] || echo "$sum" >>"$dir/times-sums"
		done
	done
	if [ "$(sort -u "$dir/times-sums" | wc -l)" != 1 ]; then
		echo "compare.sh: the peers' checksums differ" >&2
		exit 1
	fi
	printf '\n%dx%d elements in %dx%d blocks, %d iterations, %s kernel, %d cores, median of %d\n' \
		"$rows" "$cols" "$down" "$across" "$iters" "$kernel" "$cores" "$rounds"
	printf '%-18s %20s %18s %14s\n' "" "ns/element/iteration" "us/block/iteration" "ours/this one"
	median() { sort -g "$dir/times-$1" | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }
	mine=$(median ours)
	for name in "${names[@]}"; do
		median "$name" | awk -v name="$name" -v mine="$mine" -v per="$((rows * cols / down / across))" \
			'{printf "%-18s %20.3f %18.3f %14.2f\n", name, $1, $1 * per / 1000, mine / $1}'
	done
done
