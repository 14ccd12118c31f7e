# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh - what the end-to-end tests share.  Source it first:
#
#   . "$(dirname "$0")/lib.sh"
#
# Each test gets a folder of its own ($T), a state folder, XDG folders and a socket in it,
# and YARD_SERVER set to that socket.  What it starts is stopped when it ends, also after a
# failure or SIGTERM.  Points are TAP: ok, is, like; plan() at the end.
set -u
LC_ALL=C.UTF-8
export LC_ALL

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${YARD_BUILD:-$ROOT/build}
YARD=$BUILD/yard
YARDD=$BUILD/yardd
T=$(mktemp -d "${TMPDIR:-/tmp}/yard-e2e.XXXXXX")
STATE=$T/state
SOCKET=$T/yard.sock
DAEMON=
POINTS=0
FAILED=0

# A world of its own: nothing of the caller's yard is seen or touched.
export HOME=$T/home XDG_STATE_HOME=$T/xdg/state XDG_RUNTIME_DIR=$T/xdg/run
export XDG_CONFIG_HOME=$T/xdg/config XDG_CACHE_HOME=$T/xdg/cache
export YARD_SERVER=unix://$SOCKET
mkdir -p "$HOME" "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME" "$XDG_CACHE_HOME" "$T/work"
chmod 700 "$XDG_RUNTIME_DIR"
cd "$T/work" || exit 1

# shellcheck source=test/accounts.sh
. "$ROOT/test/accounts.sh"

say() { printf '# %s\n' "$*"; }

ok() # status, law in words: ok $? "..."
{
	POINTS=$((POINTS + 1))
	if [[ $1 -eq 0 ]]; then
		printf 'ok %d - %s\n' "$POINTS" "$2"
		return 0
	fi
	FAILED=$((FAILED + 1))
	printf 'not ok %d - %s\n' "$POINTS" "$2"
	local up=1
	while [[ ${BASH_SOURCE[up]:-} == */lib.sh ]]; do up=$((up + 1)); done
	printf '# at %s:%s\n' "${BASH_SOURCE[up]##*/}" "${BASH_LINENO[up - 1]}"
	return 1
}

is() # got, want, law
{
	[[ $1 == "$2" ]]
	ok $? "$3" || printf '# got  %q\n# want %q\n' "$1" "$2"
}

like() # text, extended regular expression, law
{
	[[ $1 =~ $2 ]]
	ok $? "$3" || printf '# got  %q\n# like %q\n' "$1" "$2"
}

unlike()
{
	! [[ $1 =~ $2 ]]
	ok $? "$3" || printf '# got    %q\n# unlike %q\n' "$1" "$2"
}

skip() # law, why
{
	POINTS=$((POINTS + 1))
	printf 'ok %d - %s # SKIP %s\n' "$POINTS" "$1" "$2"
}

skip_all() # why
{
	printf '1..0 # SKIP %s\n' "$*"
	exit 77
}

plan() # the last line of a test
{
	printf '1..%d\n' "$POINTS"
	exit $((FAILED > 0))
}

until_true() # seconds, command...: tries every 50 ms
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[[ $SECONDS -lt $end ]] || return 1
		sleep 0.05
	done
}

answers() { "$YARD" version >/dev/null 2>&1 && curl -sf --unix-socket "$SOCKET" http://yard/yard/v1/health >/dev/null; }

start_daemon() # further arguments of yardd
{
	"$YARDD" --state "$STATE" --socket "$SOCKET" "$@" >>"$T/yardd.log" 2>&1 </dev/null &
	DAEMON=$!
	if ! until_true 60 answers; then
		say "yardd does not answer:"
		tail -20 "$T/yardd.log" | sed 's/^/# /'
		return 1
	fi
}

kill_daemon() # -9 unless another signal is given; waits until it is gone
{
	[[ -n $DAEMON ]] || return 0
	kill "-${1:-9}" "$DAEMON" 2>/dev/null
	wait "$DAEMON" 2>/dev/null
	DAEMON=
}

api() # METHOD PATH [curl arguments]: body on stdout
{
	local method=$1 path=$2
	shift 2
	curl -sS --unix-socket "$SOCKET" -X "$method" "http://yard/yard/v1$path" "$@"
}

status_of() { api GET "$1" -o /dev/null -w '%{http_code}'; }
field_of() { api GET "/jobs/$1" | jq -r "$2"; }  # job, jq expression
state_is() { [[ $(field_of "$1" .state) == "$2" ]]; }
detach() { "$YARD" run --detach "$@" | tail -n 1; } # gives the id
submitted() { "$YARD" submit "$@" | tail -n 1 | grep -o '[0-9]*$'; }

# Processes whose command line names this test's folder: shims and what they hold.
leftovers() { pgrep -f -- "$T/" || true; }

finish()
{
	local rc=$? ids id
	trap - EXIT TERM INT
	if [[ -n $DAEMON ]] && kill -0 "$DAEMON" 2>/dev/null; then
		ids=$(curl -s -m 5 --unix-socket "$SOCKET" 'http://yard/yard/v1/jobs?state=live&limit=900' |
			jq -r '.jobs[].id' 2>/dev/null)
		for id in $ids; do
			curl -s -m 5 --unix-socket "$SOCKET" -X POST \
				"http://yard/yard/v1/jobs/$id/stop" >/dev/null
		done
		for id in $ids; do
			curl -s -m 10 --unix-socket "$SOCKET" \
				"http://yard/yard/v1/jobs/$id/wait?timeout_ms=8000" >/dev/null
		done
		kill_daemon TERM
	fi
	type -t cleanup >/dev/null && cleanup
	for id in $(leftovers); do
		[[ $id -ne $$ && $id -ne $BASHPID ]] && kill -9 "$id" 2>/dev/null
	done
	if [[ -n ${KEEP:-} ]]; then
		say "kept: $T"
	else
		cd /
		rm -rf --one-file-system "$T" 2>/dev/null
	fi
	exit $rc
}
trap finish EXIT
trap 'exit 143' TERM INT
