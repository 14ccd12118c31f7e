// SPDX-License-Identifier: Apache-2.0
/* yardd - the daemon: reads its settings, takes its place, boots, and waits. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "main/config.h"
#include "main/daemon.h"
#include "who/login.h"
#include "wire/outcome.h"
#include "world/log.h"

/* People compare it with what `yard login` shows them. */
static void tell_certificate(struct daemon *d)
{
	const struct tls_certificate *c;
	char until[UNITS_TEXT_MAX];

	if (!d->door.tls)
		return;
	c = tls_server_certificate(d->door.tls);
	units_show_time(c->until_ms, until);
	world_log(d->world, LEVEL_INFO, "certificate %s", c->fingerprint);
	if (c->until_ms < world_now_ms(d->world))
		world_log(d->world, LEVEL_WARN, "the certificate ended on %s", until);
}

/* While nobody could log in by TCP, whoever reads the log may be the first. */
static const char *tell_first_code(struct daemon *d)
{
	const char *code = *d->door.host ? who_first_code(d->who) : NULL;

	if (code)
		world_log(d->world, LEVEL_INFO,
			  "nobody can log in by TCP yet; the first admin is who logs in "
			  "with the code %s",
			  code);
	return code;
}

/* Where a browser reaches it; a door that apps were given before is opened again. */
static void open_for_apps(struct daemon *d, int port)
{
	AUTO_BUF struct buf url = { 0 };
	struct err err;

	door_public_url(&d->door, port, &url);
	if (url.len)
		http_server_set_url(d->http, buf_str(&url));
	else if (http_server_reopen_apps(d->http, &err) < 0)
		world_log(d->world, LEVEL_WARN, "%s", err.text);
}

/* Requests are answered from here on: the log says where, and whoever waits is told. */
static int listen_and_tell(struct daemon *d, struct err *err)
{
	AUTO_BUF struct buf where = { 0 };
	int port = 0;

	buf_printf(&where, "unix://%s", d->place.socket);
	if (*d->door.host &&
	    http_server_listen_tcp(d->http, d->door.host, d->door.port, &port, err) < 0)
		return err_wrap(err, "--listen %s", d->settings.listen);
	door_url(&d->door, port, &where);
	open_for_apps(d, port);
	world_log(d->world, LEVEL_INFO, "yardd %s listens on %s, state in %s",
		  YARD_VERSION, where.data, d->place.state);
	tell_certificate(d);
	const char *code = tell_first_code(d);
	if (d->settings.ready_fd >= 0) {
		dprintf((int)d->settings.ready_fd, "ready %s%s%s\n", where.data,
			code ? " code " : "", code ? code : "");
		close((int)d->settings.ready_fd);
	}
	return 0;
}

static int run(struct daemon *d, struct err *err)
{
	struct rlimit files;

	if (d->settings.ready_fd >= 0)
		fcntl((int)d->settings.ready_fd, F_SETFD, FD_CLOEXEC);
	if (place_open(&d->place, &d->settings, err) < 0)
		return -1;
	if (d->settings.restore) {
		AUTO_FREE char *database = str_printf("%s/yard.db", d->place.state);
		return store_sqlite_restore(d->settings.restore, database, err);
	}
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max; /* a follower takes two descriptors */
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (door_open(&d->door, &d->settings, &d->place, err) < 0 ||
	    daemon_boot(d, err) < 0 || listen_and_tell(d, err) < 0)
		return -1;
	world_run(d->world);
	*err = d->fatal;
	return d->fatal.code == ERR_NONE ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct daemon d = { .place = { .lock_fd = -1 } };
	AUTO_BUF struct buf help = { 0 };
	struct err err = { 0 };
	enum opts_result got = config_read(&d.settings, argc - 1, argv + 1, &err);
	int rc = 0;

	if (got == OPTS_HELP) {
		settings_help(&help);
		printf("%s", buf_str(&help));
	} else if (got == OPTS_OK && d.settings.version) {
		printf("yardd %s\n", YARD_VERSION);
	} else {
		rc = got == OPTS_OK ? run(&d, &err) : -1;
	}
	if (rc < 0)
		fprintf(stderr, "yardd: %s\n", err.text);
	daemon_destroy(&d);
	return rc < 0 ? wire_exit_code(err.code) : 0;
}
