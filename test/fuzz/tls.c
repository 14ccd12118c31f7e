// SPDX-License-Identifier: Apache-2.0
/* Bytes from anybody on a TLS door: never a crash, never a clear byte, and what is answered
 * is bounded.  The first byte says where the rest is cut in two: cut or not, it is refused
 * or not alike. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tls/tls.h"

#define ANSWER_MAX (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tls_context *door(void)
{
	static struct tls_context *made;
	static const char *const names[] = { "localhost" };
	char base[] = "/tmp/yard-fuzz-tls-XXXXXX";
	struct err err;

	if (made)
		return made;
	if (!mkdtemp(base))
		abort();
	AUTO_FREE char *folder = str_printf("%s/tls", base);
	AUTO_FREE char *cert = str_printf("%s/cert.pem", folder);
	AUTO_FREE char *key = str_printf("%s/key.pem", folder);
	if (tls_certificate_make(folder, names, 1, &err) == 0)
		made = tls_server_create(cert, key, &err);
	unlink(cert);
	unlink(key);
	rmdir(folder);
	rmdir(base);
	if (!made)
		abort();
	return made;
}

/* What a server does with a piece; false: it is over. */
static bool serve(struct tls_session *s, const uint8_t *data, size_t len)
{
	char out[4096];
	size_t said = 0, n;
	struct err err;
	bool good = tls_feed(s, data, len, &err) == 0;

	ssize_t clear = good ? tls_read(s, out, sizeof out, &err) : -1;
	if (clear > 0)
		abort(); /* nobody shook hands */
	while ((n = tls_take(s, out, sizeof out)) > 0)
		said += n;
	if (said > ANSWER_MAX)
		abort();
	return clear == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	size_t len = size - 1, cut = data[0] * len / 256;
	struct tls_session *whole = tls_accept(door()), *parts = tls_accept(door());
	bool good = serve(whole, data + 1, len);
	bool cut_good =
		serve(parts, data + 1, cut) && serve(parts, data + 1 + cut, len - cut);

	if (good != cut_good)
		abort();
	tls_eof(whole, NULL);
	tls_session_destroy(whole);
	tls_session_destroy(parts);
	return 0;
}
