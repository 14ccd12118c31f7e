// SPDX-License-Identifier: Apache-2.0
/* yard-shim - holds one local task.  Started by the daemon only; see shim/message.h. */
#include <stdio.h>
#include <sys/socket.h>

#include "shim/message.h"
#include "shim/nest.h"
#include "shim/seal.h"
#include "shim/shim.h"

int main(void)
{
	int type;
	socklen_t len = sizeof type;

	if (getsockopt(SHIM_FD, SOL_SOCKET, SO_TYPE, &type, &len) < 0) {
		fputs("yard-shim is started by yardd, with the task on descriptor 3.\n",
		      stderr);
		return 2;
	}
	seal_self();
	if (type == SOCK_SEQPACKET)
		nest_serve();
	return shim_main();
}
