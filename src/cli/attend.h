// SPDX-License-Identifier: Apache-2.0
/* attend.h - stays with a job until it ends: its output, how it stands, Ctrl-C.
 *
 * On a terminal Ctrl-C asks whether to detach, to stop the job or to go on; a second one
 * stops it.  Elsewhere the first stops it, and the second leaves it to itself.
 */
#pragma once

#include "cli/cli.h"

/* names: a job with the same tasks, for their names.  Gives the exit code of the process. */
int attend_job(struct cli *c, int64_t job, const struct job *names);
/* An array: it has no output of its own, so just how its members fare. */
int attend_array(struct cli *c, int64_t job);
/* A job of so many tasks of the role "main", as `yard run` makes them: nobody is asked. */
int attend_main(struct cli *c, int64_t job, int64_t tasks);
