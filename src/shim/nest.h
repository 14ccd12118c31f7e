// SPDX-License-Identifier: Apache-2.0
/* nest.h - a shim that makes shims: loaded once, it forks instead of loading again, which
 * on a virtual machine takes most of a millisecond (glibc asks the processor what it is,
 * and each answer is a trap). */
#pragma once

/* Serves SHIM_FD as shim/message.h tells.  Returns in each new process, with its own socket
 * at SHIM_FD; never in the one that forks them, which ends when the daemon does. */
void nest_serve(void);
