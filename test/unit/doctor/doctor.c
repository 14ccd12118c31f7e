// SPDX-License-Identifier: Apache-2.0
/* Laws of what is found: whatever the machine is, each check says something, and each no
 * has an advice. */
#include "doctor/doctor.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

static const struct finding *about(const struct finding *f, size_t n, const char *what)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(f[i].about, what) == 0)
			return &f[i];
	return NULL;
}

static int files_in(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

int main(void)
{
	struct finding f[FINDINGS_MAX], again[FINDINGS_MAX];
	char folder[] = "/tmp/doctor-test-XXXXXX", below[64];

	if (!OK(mkdtemp(folder) != NULL, "a folder to look at"))
		return END();
	snprintf(below, sizeof below, "%s/not/yet/there", folder);
	size_t n = doctor_examine(&(struct patient){ below }, f, FINDINGS_MAX);
	OK(n >= 12, "%zu checks", n);
	for (size_t i = 0; i < n; i++) {
		OK(f[i].says[0], "%s: %s", f[i].about, f[i].says);
		OK(f[i].level == FINDING_FINE || f[i].advice[0],
		   "what is not fine has an advice: %s", f[i].advice);
	}
	const struct finding *disk = about(f, n, "disk");
	OK(disk && strstr(disk->says, folder),
	   "a state folder that is not there yet: the nearest above is looked at");
	OK(files_in(folder) == 2, "nothing is left in it");
	size_t m = doctor_examine(&(struct patient){ folder }, again, FINDINGS_MAX);
	OK(m == n, "looking twice finds as much");
	for (size_t i = 0; i < n && i < m; i++)
		OK(f[i].level == again[i].level || strcmp(f[i].about, "disk") == 0,
		   "%s is as it was: no trial changed the machine", f[i].about);
	if (geteuid() != 0) {
		n = doctor_examine(&(struct patient){ "/proc/1" }, f, FINDINGS_MAX);
		disk = about(f, n, "disk");
		OK(disk && disk->level == FINDING_LACK,
		   "a folder that cannot be written");
	}
	OK(doctor_examine(&(struct patient){ folder }, f, 2) == 2, "no more than asked");
	rmdir(folder);
	return END();
}
