// SPDX-License-Identifier: Apache-2.0
/* seal.h - the program runs from a copy that nobody can change. */
#pragma once

/* A process that enters a task can be looked at from inside, and /proc/<pid>/exe leads to
 * its program.  Without root the task's uid is that of the program's owner, who could then
 * change it for all tasks to come.  So before anything else the program copies itself into
 * sealed memory and executes that.  Returns in the copy; or where the machine forbids it
 * (vm.memfd_noexec=2); or at once as root, whose files no task owns. */
void seal_self(void);
