// SPDX-License-Identifier: Apache-2.0
#include "main/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define CONFIG_BYTES_MAX (1u << 20)

static int read_all(int fd, const char *path, struct buf *out, struct err *err)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof chunk)) > 0) {
		if (out->len + (size_t)n > CONFIG_BYTES_MAX)
			return err_set(err, ERR_TOO_LARGE,
				       "%s: a settings file has at most %u bytes", path,
				       CONFIG_BYTES_MAX);
		buf_add(out, chunk, (size_t)n);
	}
	return n < 0 ? err_sys(err, "read %s", path) : 0;
}

enum opts_result config_read(struct settings *s, int argc, char *const *argv,
			     struct err *err)
{
	const struct settings_env env = { .home = getenv("HOME"),
					  .xdg_config_home = getenv("XDG_CONFIG_HOME"),
					  .uid = geteuid() };
	struct settings_input in = { .argc = argc, .argv = argv, .get = getenv };
	AUTO_BUF struct buf text = { 0 };
	AUTO_FREE char *usual = settings_config_path(&env);
	const char *asked = settings_config(&in), *path = asked ? asked : usual;
	AUTO_FD int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 && (asked || (path && errno != ENOENT && errno != ENOTDIR))) {
		err_sys(err, "--config: open %s", path);
		return OPTS_BAD;
	}
	if (fd >= 0) {
		if (read_all(fd, path, &text, err) < 0)
			return OPTS_BAD;
		in.file = buf_str(&text);
		in.file_name = path;
	}
	return settings_parse(s, &in, err);
}
