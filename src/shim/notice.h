// SPDX-License-Identifier: Apache-2.0
/* notice.h - the file that tells a task why it is to end, and by when. */
#pragma once

/* By the task's first process, before the signal.  The file is whole when it is seen.
 * Written with the task's own rights: whatever the task did to the folder, nothing else is
 * reached.  Where it cannot be written (its memory is full) the signal has to do.  file NULL
 * or an empty text: nothing. */
void notice_put(const char *file, const char *text);
