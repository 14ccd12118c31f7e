# SPDX-License-Identifier: Apache-2.0
# lib.sh - what the parts of the bench share; sourced.
#
# A part prints its results as "part<TAB>key<TAB>value" on descriptor 3, says what it does
# on stderr, and skips itself with a sentence when its peer is not installed.
# shellcheck shell=bash

say() { printf '  %s\n' "$*" >&2; }
result() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >&3; }
skip() # part, why
{
	say "$2"
	result "$1" skip "$2"
	exit 0
}
now_ms() { date +%s%3N; }
# The p-th percentile of numbers on stdin.
percentile() { sort -n | awk -v p="$1" '{ v[NR] = $1 } END { i = int((NR - 1) * p / 100 + 0.5) + 1; print v[i] }'; }
rate() { awk -v n="$1" -v ms="$2" 'BEGIN { printf "%.1f", n * 1000 / ms }'; } # count, ms
