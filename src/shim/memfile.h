// SPDX-License-Identifier: Apache-2.0
/* memfile.h - memory of a task that is in files, mapped by a process or not. */
#pragma once

#include <stdint.h>

/* Bytes in the tmpfs this descriptor is in; 0: none. */
int64_t memfile_tmpfs(int fd);
/* Bytes of all memfds that a process of this /proc has open, each counted once. */
int64_t memfile_open(int proc);
