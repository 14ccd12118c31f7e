# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# accounts.sh - users that a test makes and removes.  One lock for all tests of a machine:
# useradd locks its files against itself, not against who edits /etc/subuid by hand.

accounts() # command...: under the lock
{
	flock -w 120 /run/lock/yard-test-accounts "$@"
}

account_subuids() # user, first sub-uid or "": exactly this range, or none
{
	local line="$1:$2:65536"
	# shellcheck disable=SC2016
	accounts sh -c 'for f in /etc/subuid /etc/subgid; do
		[ -e "$f" ] || continue
		sed -i "/^$0:/d" "$f"
		[ -z "$1" ] || echo "$2" >>"$f"
	done' "$1" "$2" "$line"
}
