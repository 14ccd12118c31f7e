// SPDX-License-Identifier: Apache-2.0
/* Private mode: the process that built the sandbox is root over its mounts, and so would
 * the task be: it could make a read-only input writable again, which belongs to the same
 * uid outside.  So the task gets a user namespace below, with the same uids, and a copy of
 * the mounts that belongs to it: in such a copy the kernel lets nobody take a mount away
 * or give it back what was taken from it.  (In root mode the mounts belong to the machine.)
 */
#include <sched.h>

#include "base/mem.h"
#include "shim/sandbox_parts.h"
#include "shim/userns.h"

int sandbox_lock(struct err *err)
{
	AUTO_FD int below = userns_below(err);

	if (below < 0)
		return err_wrap(err, "lock the sandbox");
	if (setns(below, CLONE_NEWUSER) < 0 || unshare(CLONE_NEWNS) < 0)
		return err_sys(err, "lock the sandbox");
	return 0;
}
