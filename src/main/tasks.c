// SPDX-License-Identifier: Apache-2.0
#include "main/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* Private mode: pip's variables in the environment of who started us. */
static const char *const *pip_variables(void)
{
	const char **list = NULL;
	size_t count = 0;

	for (char **var = environ; *var; var++)
		count += str_starts(*var, "PIP_");
	list = mem_alloc(count + 1, sizeof *list);
	count = 0;
	for (char **var = environ; *var; var++)
		if (str_starts(*var, "PIP_"))
			list[count++] = *var;
	return list;
}

static int check_wheels(const char *path, struct err *err)
{
	struct stat st;

	if (*path != '/')
		return err_set(err, ERR_INVALID,
			       "wheel-folder: '%s' is not an absolute path", path);
	if (stat(path, &st) < 0)
		return err_sys(err, "wheel-folder: %s", path);
	return S_ISDIR(st.st_mode)
		       ? 0
		       : err_set(err, ERR_INVALID, "wheel-folder: %s is no folder", path);
}

int tasks_describe(struct daemon *d, struct yard_config *yard, struct err *err)
{
	bool root = geteuid() == 0;
	char host[256] = "";

	if (d->settings.wheel_folder && check_wheels(d->settings.wheel_folder, err) < 0)
		return -1;
	gethostname(host, sizeof host - 1);
	d->identity = str_printf("%s:%s", host, d->place.state);
	d->pip_variables = root ? NULL : pip_variables();
	yard->identity = d->identity;
	yard->pip = (struct contract_pip){ .wheels = d->settings.wheel_folder,
					   .no_index = d->settings.pip_no_index,
					   .variables = d->pip_variables };
	return 0;
}

void tasks_forget(struct daemon *d)
{
	free(d->identity);
	free((void *)(uintptr_t)d->pip_variables);
}
