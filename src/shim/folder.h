// SPDX-License-Identifier: Apache-2.0
/* folder.h - files of the attempt's folder: read whole, or made whole and durable. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* 1: read; 0: no such file; -1. */
int folder_read(int dir, const char *name, struct buf *out, struct err *err);
/* Puts a whole file there: nobody ever sees a part of it.  Gives its descriptor. */
int folder_put(int dir, const char *name, const struct buf *content, struct err *err);
/* Makes it durable: it is there after a power cut.  Takes the descriptor. */
int folder_sync(int dir, int fd, struct err *err);

void boot_id(char *out, size_t size); /* of this boot of the machine; "" when not known */
int64_t process_start(int64_t pid);   /* clock ticks since boot; -1: no such process */
