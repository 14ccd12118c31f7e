// SPDX-License-Identifier: Apache-2.0
/* Code by an address may change while it is taken: what is kept under a hash has that hash,
 * for others who have the same code are given it. */
#include "depot/depot.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/tree.h"
#include "job/job.h"
#include "pack/hash.h"
#include "tap.h"

#define BYTES (1 << 20)
#define TRIES 20

static char home[] = "/tmp/yard-code-XXXXXX";
static struct world *world;
static struct depot *depot;
static char *file;
static atomic_bool over;

static void *rewrite(void *arg)
{
	AUTO_FD int fd = open(file, O_WRONLY | O_CLOEXEC);
	AUTO_FREE char *bytes = mem_alloc(1, BYTES);

	(void)arg;
	for (int i = 0; !atomic_load(&over); i++) {
		memset(bytes, 'a' + i % 26, BYTES);
		if (pwrite(fd, bytes, BYTES, 0) != BYTES)
			break;
	}
	return NULL;
}

struct kept {
	char code[512];
	struct err err;
};

static void on_prepared(void *arg, const struct depot_places *p, const struct err *err)
{
	struct kept *k = arg;

	if (p)
		snprintf(k->code, sizeof k->code, "%s", p->code);
	else
		k->err = *err;
	world_stop(world);
}

/* Whether the file in the tree is what the folder above it is named by. */
static bool is_true(const char *tree)
{
	AUTO_FREE char *path = str_printf("%s/run.py", tree);
	AUTO_FREE char *bytes = mem_alloc(1, BYTES);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pack_hash *h = pack_hash_create();
	char hash[PACK_HASH_HEX];
	ssize_t n = fd < 0 ? 0 : read(fd, bytes, BYTES);

	pack_hash_add(h, "run.py", sizeof "run.py");
	pack_hash_add(h, bytes, n > 0 ? (size_t)n : 0);
	pack_hash_finish(h, hash);
	AUTO_FREE char *want = str_printf("/%s/tree", hash);
	return n == BYTES && str_ends(tree, want);
}

static bool take_once(int64_t id)
{
	struct job j = { .id = id, .owner_uid = getuid(), .spec = spec_create() };
	struct kept k = { .err = { .text = "" } };
	struct err err;

	j.spec->code = str_printf("file://%s", file);
	depot->ops->prepare(depot, &j, -1, on_prepared, &k);
	world_run(world);
	spec_destroy(j.spec);
	if (!*k.code)
		printf("# %s\n", k.err.text);
	bool good = *k.code && is_true(k.code);
	AUTO_FREE char *code = str_printf("%s/state/code", home);
	if (tree_delete(code, &err) < 0 || tree_make(code, 0700, &err) < 0)
		printf("# %s\n", err.text);
	return good;
}

int main(void)
{
	pthread_t writer;
	struct err err;
	int good = 0;

	if (!mkdtemp(home))
		return 1;
	AUTO_FREE char *state = str_printf("%s/state", home);
	file = str_printf("%s/run.py", home);
	AUTO_FD int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (ftruncate(fd, BYTES) < 0)
		return 1;
	world = world_uv_create(&err);
	depot = depot_files_create(world, state, "/none", &err);
	OK(take_once(1), "a file that is left in peace is kept under its hash");
	pthread_create(&writer, NULL, rewrite, NULL);
	for (int i = 0; i < TRIES; i++)
		good += take_once(2 + i);
	atomic_store(&over, true);
	pthread_join(writer, NULL);
	OK(good == TRIES, "one that is written to all the time, too (%d of %d)", good,
	   TRIES);
	depot->ops->destroy(depot);
	world_destroy(world);
	tree_delete(home, &err);
	free(file);
	return END();
}
