// SPDX-License-Identifier: Apache-2.0
#include "main/door.h"

#include <arpa/inet.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static bool is_loopback(const char *host)
{
	unsigned char a[sizeof(struct in6_addr)];

	if (inet_pton(AF_INET, host, a) == 1)
		return a[0] == 127;
	return str_eq(host, "localhost") || str_eq(host, "::1");
}

static bool is_everywhere(const char *host)
{
	return str_eq(host, "0.0.0.0") || str_eq(host, "::");
}

static int wants_tls(const struct door *d, const struct settings *s, bool *out,
		     struct err *err)
{
	bool given = s->tls_cert || s->tls_key;

	if (given && (!s->tls_cert || !s->tls_key))
		return err_set(err, ERR_INVALID,
			       "--tls-cert and --tls-key: give both or none");
	if (!s->tls || str_eq(s->tls, "auto"))
		*out = given || !is_loopback(d->host);
	else if (str_eq(s->tls, "on") || str_eq(s->tls, "off"))
		*out = str_eq(s->tls, "on");
	else
		return err_set(err, ERR_INVALID, "--tls: '%s' is not auto, on or off",
			       s->tls);
	if (given && !*out)
		return err_set(err, ERR_INVALID,
			       "--tls off: then --tls-cert is of no use");
	return 0;
}

static struct tls_context *own_certificate(const struct door *d, const struct place *p,
					   struct err *err)
{
	char host[HOST_NAME_MAX + 1] = "localhost";
	AUTO_FREE char *folder = str_printf("%s/tls", p->state);
	AUTO_FREE char *cert = str_printf("%s/cert.pem", folder);
	AUTO_FREE char *key = str_printf("%s/key.pem", folder);

	gethostname(host, sizeof host - 1);
	const char *names[] = { host, "localhost", "127.0.0.1", "::1", d->host };
	size_t count = COUNT_OF(names) - is_everywhere(d->host);
	if (tls_certificate_make(folder, names, count, err) < 0)
		return NULL;
	return tls_server_create(cert, key, err);
}

int door_open(struct door *d, const struct settings *s, const struct place *p,
	      struct err *err)
{
	bool tls = false;

	*d = (struct door){ .port = 0 };
	if (!s->listen)
		return 0;
	if (settings_address(s->listen, d->host, sizeof d->host, &d->port, err) < 0)
		return err_wrap(err, "--listen %s", s->listen);
	if (wants_tls(d, s, &tls, err) < 0)
		return -1;
	if (!tls)
		return 0;
	d->tls = s->tls_cert ? tls_server_create(s->tls_cert, s->tls_key, err)
			     : own_certificate(d, p, err);
	return d->tls ? 0 : -1;
}

void door_close(struct door *d)
{
	tls_context_destroy(TAKE(d->tls));
}

void door_url(const struct door *d, int port, struct buf *out)
{
	bool six = strchr(d->host, ':') != NULL;

	if (*d->host)
		buf_printf(out, " %s://%s%s%s:%d", d->tls ? "https" : "http",
			   six ? "[" : "", d->host, six ? "]" : "", port);
}

void door_public_url(const struct door *d, int port, struct buf *out)
{
	char host[HOST_NAME_MAX + 1] = "localhost";

	if (!*d->host)
		return;
	gethostname(host, sizeof host - 1);
	const char *name = is_everywhere(d->host) ? host : d->host;
	bool six = strchr(name, ':') != NULL;
	buf_printf(out, "%s://%s%s%s:%d", d->tls ? "https" : "http", six ? "[" : "", name,
		   six ? "]" : "", port);
}
