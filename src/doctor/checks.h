// SPDX-License-Identifier: Apache-2.0
/* checks.h - for those who write checks; nobody outside this room includes it. */
#pragma once

#include "doctor/doctor.h"

/* Fills level, says and advice; what it leaves is fine and says nothing. */
typedef void check_fn(const struct patient *p, struct finding *f);

check_fn check_user, check_kernel, check_namespaces, check_subuids, check_overlay,
	check_idmap, check_cgroups, check_seccomp;
check_fn check_cores, check_memory, check_devices, check_disk, check_clock, check_files,
	check_engines;

void finding_set(struct finding *f, enum finding_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void finding_advise(struct finding *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Runs trial in a child: 0, or the errno it gives (EINTR: it was killed). */
int in_child(int (*trial)(void *arg), void *arg);
