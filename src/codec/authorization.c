// SPDX-License-Identifier: Apache-2.0
#include "codec/authorization.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

void authorization_wipe(struct authorization *a)
{
	explicit_bzero(a, sizeof *a);
}

static int sextet(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four.  Gives how many bytes it holds; 0: it is none.  Bits that mean nothing
 * must be zero, so that each text has one form. */
static size_t decode_group(const char *in, bool last, char out[3])
{
	int pads = last ? (in[3] == '=') + (in[3] == '=' && in[2] == '=') : 0;
	unsigned bits = 0;

	for (int i = 0; i < 4 - pads; i++) {
		int v = sextet(in[i]);
		if (v < 0)
			return 0;
		bits |= (unsigned)v << (18 - 6 * i);
	}
	if (bits & ((1u << (8 * pads)) - 1))
		return 0;
	for (int i = 0; i < 3; i++)
		out[i] = (char)(bits >> (16 - 8 * i));
	return (size_t)(3 - pads);
}

/* out has room for the text as it is.  -1: not base64. */
static int decode(const char *in, char *out, size_t *out_len)
{
	size_t len = strlen(in), n = 0;
	char three[3] = { 0 };

	if (len == 0 || len % 4)
		return -1;
	for (size_t i = 0; i < len; i += 4) {
		size_t got = decode_group(in + i, i + 4 == len, three);
		if (got == 0)
			return -1;
		memcpy(out + n, three, got);
		n += got;
	}
	out[n] = '\0';
	*out_len = n;
	return 0;
}

static bool plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = utf8_sequence(text + i, len - i);
		if (n == 0 || (unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
		i += n;
	}
	return true;
}

static int read_basic(const char *text, struct authorization *out, struct err *err)
{
	size_t len = 0;

	if (decode(text, out->password, &len) < 0)
		return err_set(err, ERR_INVALID,
			       "Authorization: what follows Basic is not base64");
	char *colon = memchr(out->password, ':', len);
	if (!colon || !plain(out->password, len))
		return err_set(err, ERR_INVALID,
			       "Authorization: Basic is to hold NAME:PASSWORD in base64, "
			       "without control characters");
	size_t name = (size_t)(colon - out->password);
	memcpy(out->name, out->password, name);
	out->name[name] = '\0';
	memmove(out->password, colon + 1, len - name);
	return 0;
}

static int read_bearer(const char *text, struct authorization *out, struct err *err)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (text[i] <= 0x20 || text[i] >= 0x7f)
			len = 0;
	if (len == 0)
		return err_set(err, ERR_INVALID,
			       "Authorization: what follows Bearer is not a token");
	memcpy(out->token, text, len + 1);
	return 0;
}

int authorization_read(const char *value, struct authorization *out, struct err *err)
{
	memset(out, 0, sizeof *out);
	if (strlen(value) >= AUTHORIZATION_MAX)
		return err_set(err, ERR_INVALID,
			       "Authorization: longer than %d characters",
			       AUTHORIZATION_MAX - 1);
	if (strncasecmp(value, "Bearer ", 7) == 0) {
		out->kind = AUTHORIZATION_BEARER;
		return read_bearer(value + 7, out, err);
	}
	if (strncasecmp(value, "Basic ", 6) == 0) {
		out->kind = AUTHORIZATION_BASIC;
		if (read_basic(value + 6, out, err) == 0)
			return 0;
		authorization_wipe(out);
		return -1;
	}
	return err_set(
		err, ERR_INVALID,
		"Authorization: neither Bearer TOKEN nor Basic NAME:PASSWORD in base64");
}
