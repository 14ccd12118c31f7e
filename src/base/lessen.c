// SPDX-License-Identifier: Apache-2.0
#include "base/lessen.h"

#include <grp.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

void lessen_limit(int what, rlim_t value)
{
	struct rlimit r;

	if (getrlimit(what, &r) < 0 ||
	    (r.rlim_max != RLIM_INFINITY && r.rlim_max < value))
		return;
	r.rlim_cur = r.rlim_max = value;
	setrlimit(what, &r);
}

void lessen_memory(rlim_t bytes)
{
	if (!SANITIZED)
		lessen_limit(RLIMIT_AS, bytes);
}

int lessen_to_uid(int64_t uid, struct err *err)
{
	uid_t id = (uid_t)uid;

	if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 ||
	    setresuid(id, id, id) < 0)
		return err_sys(err, "become uid %u", id);
	if (setuid(0) == 0)
		return err_set(err, ERR_INTERNAL, "root came back after becoming uid %u",
			       id);
	return 0;
}
