// SPDX-License-Identifier: Apache-2.0
/* The journal's file: all that was added is in it, nobody else may read it, it has an end,
 * and the one before is kept. */
#include "yard/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "tap.h"
#include "world/world_sim.h"

static char folder[] = "/tmp/yard-tape.XXXXXX";
static char path[64], before[64];

static void add(struct tape *t, const char *text)
{
	struct buf line = { 0 };

	buf_adds(&line, text);
	tape_add(t, &line);
	buf_fini(&line);
}

static bool holds(const char *file, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(got, 1, sizeof got - 1, f) : 0;

	if (f)
		fclose(f);
	return n == strlen(text) && str_eq(got, text);
}

int main(void)
{
	struct world *w = world_sim_create(1);
	struct stat st;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/tape", folder);
	snprintf(before, sizeof before, "%s/tape.1", folder);
	umask(0);
	struct tape *t = tape_open(w, path, 1000, NULL);
	OK(t && stat(path, &st) == 0 && (st.st_mode & 0777) == 0600,
	   "it is its owner's alone, whatever the umask");
	add(t, "one\n");
	world_sim_settle(w, 100);
	add(t, "two\n");   /* this is being written, */
	add(t, "three\n"); /* and this waits, when it is closed */
	tape_close(t);
	world_sim_settle(w, 100);
	OK(holds(path, "one\ntwo\nthree\n"), "what waits when it is closed is written");
	t = tape_open(w, path, 6, NULL);
	OK(holds(before, "one\ntwo\nthree\n") && holds(path, ""),
	   "the one before is kept");
	add(t, "four\n");
	OK(!tape_over(t), "it takes what fits");
	add(t, "five\n");
	OK(tape_over(t), "and no more");
	tape_close(t);
	world_sim_settle(w, 100);
	OK(holds(path, "four\n"), "no line is cut");
	world_destroy(w);
	unlink(path);
	unlink(before);
	rmdir(folder);
	return END();
}
