// SPDX-License-Identifier: Apache-2.0
#include "stream/usage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

int main(void)
{
	char folder[] = "/tmp/yard-usage-XXXXXX", path[64];
	struct usage_sample *s = NULL;
	struct err err;
	size_t count = 7, most = 0;
	int thinned = 0, failed = 0, fd;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/usage", folder);
	OK(usage_read(folder, &s, &count, &err) == 0 && count == 0 && !s,
	   "no series is an empty one");
	for (int i = 0; i < 5000; i++) {
		struct usage_sample one = {
			.time_ms = i, .cpu_ms = 2 * i, .memory_bytes = 3, .pids = 4
		};
		int rc = usage_append(folder, &one, &err);

		thinned += rc > 0;
		failed += rc < 0;
		if (i == 9) {
			usage_read(folder, &s, &count, &err);
			OK(count == 10 && s[9].time_ms == 9 && s[3].cpu_ms == 6 &&
				   s[0].pids == 4,
			   "samples come back in order");
			free(TAKE(s));
		}
	}
	IS_INT(failed, 0, "five thousand samples can be taken");
	failed = usage_read(folder, &s, &count, &err);
	OK(!failed && count < USAGE_SAMPLES_MAX && count >= USAGE_SAMPLES_MAX / 2 - 1,
	   "the series stays within its bound (%zu)", count);
	OK(thinned > 2, "by being thinned");
	OK(s[0].time_ms == 0 && s[count - 1].time_ms >= 4990,
	   "and covers the whole life");
	for (size_t i = 1; i < count; i++)
		most += s[i].time_ms <= s[i - 1].time_ms;
	IS_INT((long long)most, 0, "in order of time");
	free(TAKE(s));

	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	failed = write(fd, "torn", 4) != 4;
	close(fd);
	usage_append(folder, &(struct usage_sample){ .time_ms = 6000 }, &err);
	size_t before = count;
	usage_read(folder, &s, &count, &err);
	OK(!failed && count == before + 1 && s[count - 1].time_ms == 6000,
	   "a torn sample is written over");
	free(TAKE(s));
	OK(usage_append("/no/such/folder", &(struct usage_sample){ 0 }, &err) < 0,
	   "a folder that is not there: %s", err.text);
	unlink(path);
	rmdir(folder);
	return END();
}
