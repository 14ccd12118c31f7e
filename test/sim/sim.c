// SPDX-License-Identifier: Apache-2.0
/* Deterministic simulation of the shipped yard.
 *
 *   sim                   3,000 fresh seeds (the first one is printed)
 *   sim --seeds N         so many
 *   sim --seed S [-v]     just this one, told in words: how a failing seed is replayed
 *   sim --find-bug NAME   a planted bug must be found within 1,000 seeds
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/str.h"
#include "model.h"
#include "tap.h"
#include "world/log.h"

#define FRESH_SEEDS   3000
#define PLANTED_SEEDS 1000

/* A broken assertion ends the program: say in which history it stood. */
static volatile uint64_t under_way;

static void on_abort(int signum)
{
	char text[64];
	int n = snprintf(text, sizeof text, "# broke off in seed %llu\n",
			 (unsigned long long)under_way);

	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(1);
	signal(signum, SIG_DFL);
	raise(signum);
}

static bool run_one(struct run *r, uint64_t seed, bool verbose)
{
	under_way = seed;
	return run_seed(r, seed, verbose);
}

static int replay(uint64_t seed, bool verbose)
{
	struct run r;
	bool ok = run_one(&r, seed, verbose);

	printf("seed %llu: %s\n", (unsigned long long)seed,
	       ok ? "every law holds" : r.broken.text);
	return !ok;
}

static int many(const char *self, uint64_t first, long count)
{
	long steps = 0, crashes = 0, failed = 0, preemptions = 0, extensions = 0;
	long resumes = 0, longest = 0;
	struct run r;

	printf("# %ld seeds from %llu\n", count, (unsigned long long)first);
	for (long i = 0; i < count && failed < 3; i++) {
		if (!run_one(&r, first + (uint64_t)i, false)) {
			failed++;
			OK(false, "seed %llu: %s",
			   (unsigned long long)(first + (uint64_t)i), r.broken.text);
			printf("# replay: %s --seed %llu -v\n", self,
			       (unsigned long long)(first + (uint64_t)i));
		}
		steps += r.steps;
		crashes += r.crashes;
		preemptions += r.preemptions;
		extensions += r.extensions;
		resumes += r.resumes;
		longest += r.longest;
	}
	OK(failed == 0, "every law holds in %ld histories (%ld steps, %ld crashes)",
	   count, steps, crashes);
	OK(crashes > count && preemptions > count / 4,
	   "and they were not quiet ones (%ld jobs gave way)", preemptions);
	OK(extensions > count / 4 && resumes > count / 4 && longest > 0,
	   "graces were put off (%ld), some to their end (%ld), and attempts went on from "
	   "checkpoints (%ld)",
	   extensions, longest, resumes);
	return END();
}

static int find_bug(const char *name, uint64_t first)
{
	struct run r;
	long i = 0;

	while (i < PLANTED_SEEDS && run_one(&r, first + (uint64_t)i, false))
		i++;
	OK(i < PLANTED_SEEDS, "the planted bug '%s' is found (after %ld seeds: %s)", name,
	   i + 1, i < PLANTED_SEEDS ? r.broken.text : "-");
	return END();
}

int main(int argc, char **argv)
{
	uint64_t first = 0;
	int64_t n = FRESH_SEEDS;

	signal(SIGABRT, on_abort);
	world_log_level(LOG_LEVEL_COUNT); /* full disks by the thousand */
	if (getrandom(&first, sizeof first, 0) < 0)
		return 1;
	first %= 1000000000;
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (str_eq(argv[i], "--seed") && str_to_i64(value, 0, INT64_MAX, &n) == 0)
			return replay((uint64_t)n,
				      i + 2 < argc && str_eq(argv[i + 2], "-v"));
		if (str_eq(argv[i], "--find-bug"))
			return find_bug(value, first);
		if (str_eq(argv[i], "--seeds") &&
		    str_to_i64(value, 1, INT64_MAX, &n) == 0)
			i++;
		else {
			fprintf(stderr,
				"usage: sim [--seeds N | --seed S [-v] | --find-bug NAME]\n");
			return 2;
		}
	}
	return many(argv[0], first, (long)n);
}
