// SPDX-License-Identifier: Apache-2.0
/* homes.h - private mode: a person's own tools go along with the task, the rest of their
 * home stays hidden. */
#pragma once

#include "job/bundle.h"
#include "shim/message.h"

/* Adds the folders under `home` that the bundle's PATH, VIRTUAL_ENV and CONDA_PREFIX name,
 * with what those need to work (the environment a `bin` belongs to, the Python a virtual
 * environment was made with): read-only, or writable for the task alone where it installs
 * something; then with pip.conf.  Never `hidden` or a folder that holds it. */
void homes_mount(const char *home, const char *hidden, const struct bundle *b,
		 struct shim_task *out);
