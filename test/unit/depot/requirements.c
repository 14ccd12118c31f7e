// SPDX-License-Identifier: Apache-2.0
/* What is read of a stranger's code: its requirements, and nothing that they lead to. */
#include "depot/requirements.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

static char tree[] = "/tmp/yard-requirements.XXXXXX";

static void put(const char *name, const char *text, size_t len)
{
	AUTO_FD int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		exit(1);
}

static const char *got(bool *wheels)
{
	static char line[1100];
	AUTO_FREE char *text = NULL;
	struct err err = { 0 };

	if (requirements_read(tree, &text, wheels, &err) < 0)
		snprintf(line, sizeof line, "error: %s", err.text);
	else
		snprintf(line, sizeof line, "%s", text ? text : "none");
	return line;
}

int main(void)
{
	AUTO_FREE char *large = mem_alloc(1, REQUIREMENTS_BYTES_MAX + 1);
	bool wheels = true;

	if (!mkdtemp(tree) || chdir(tree) < 0)
		return 1;
	IS(got(&wheels), "none", "code without requirements");
	OK(!wheels, "and without wheels");
	put("requirements.txt", "", 0);
	IS(got(&wheels), "none", "an empty file requires nothing");
	put("requirements.txt", "numpy\n", 6);
	mkdir("wheels", 0700);
	IS(got(&wheels), "numpy\n", "its text");
	OK(wheels, "and whether there are wheels");
	unlink("requirements.txt");
	put("real.txt", "inside\n", 7);
	if (symlink("real.txt", "requirements.txt") < 0)
		return 1;
	IS(got(&wheels), "inside\n", "a link that stays in the code is followed");
	unlink("requirements.txt");
	if (symlink("/etc/passwd", "requirements.txt") < 0)
		return 1;
	IS(got(&wheels), "error: requirements.txt leads out of the code",
	   "one that leads out is not");
	unlink("requirements.txt");
	if (symlink("../../../../etc/passwd", "requirements.txt") < 0)
		return 1;
	IS(got(&wheels), "error: requirements.txt leads out of the code",
	   "by whatever way");
	unlink("requirements.txt");
	mkfifo("requirements.txt", 0600);
	IS(got(&wheels), "none", "what is no file is not waited for");
	unlink("requirements.txt");
	mkdir("requirements.txt", 0700);
	IS(got(&wheels), "none", "a folder is none either");
	rmdir("requirements.txt");
	memset(large, 'x', REQUIREMENTS_BYTES_MAX + 1);
	put("requirements.txt", large, REQUIREMENTS_BYTES_MAX + 1);
	IS(got(&wheels), "error: requirements.txt is larger than 256 KiB",
	   "too large a one");
	put("requirements.txt", large, 0);
	rmdir("wheels");
	if (symlink("/usr", "wheels") < 0)
		return 1;
	got(&wheels);
	OK(!wheels, "wheels that are elsewhere are none");
	unlink("wheels");
	unlink("requirements.txt");
	unlink("real.txt");
	if (chdir("/") < 0 || rmdir(tree) < 0)
		printf("# %s is left\n", tree);
	return END();
}
