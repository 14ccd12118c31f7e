// SPDX-License-Identifier: Apache-2.0
/* A box is one byte of version, the nonce, then what the cipher gives. */
#include "secret/box.h"

#include <sodium.h>
#include <string.h>

#include "base/mem.h"
#include "job/secret_use.h"

#define VERSION 1
#define NONCE   crypto_aead_xchacha20poly1305_ietf_NPUBBYTES
#define TAG     crypto_aead_xchacha20poly1305_ietf_ABYTES
#define HEAD    (1 + NONCE)
#define BOX_MAX (HEAD + SECRET_VALUE_MAX + TAG)
#define BASE64  sodium_base64_VARIANT_ORIGINAL

_Static_assert(BOX_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
	       "the cipher's");
_Static_assert(NONCE % sizeof(uint64_t) == 0, "filled by whole numbers");

/* Names have no NUL in them, so no two labels give the same bytes. */
static void add_label(const struct box_label *l, struct buf *out)
{
	const char *const parts[] = { l->kind, l->scope, l->owner, l->name };

	for (size_t i = 0; i < COUNT_OF(parts); i++)
		buf_add(out, parts[i], strlen(parts[i]) + 1);
}

static const unsigned char *bytes(const struct vault *v)
{
	return (const unsigned char *)vault_data(v);
}

void box_seal(struct world *w, const struct vault *key, const struct box_label *label,
	      const struct vault *value, struct buf *out)
{
	size_t len = HEAD + vault_len(value) + TAG;
	AUTO_FREE unsigned char *box = mem_alloc(1, len);
	AUTO_BUF struct buf extra = { 0 };

	add_label(label, &extra);
	box[0] = VERSION;
	for (size_t at = 1; at < HEAD; at += sizeof(uint64_t)) {
		uint64_t r = world_random(w);
		memcpy(box + at, &r, sizeof r);
	}
	crypto_aead_xchacha20poly1305_ietf_encrypt(
		box + HEAD, NULL, bytes(value), vault_len(value),
		(const unsigned char *)extra.data, extra.len, NULL, box + 1, bytes(key));
	size_t text = sodium_base64_ENCODED_LEN(len, BASE64);
	buf_reserve(out, text);
	sodium_bin2base64(out->data + out->len, text, box, len, BASE64);
	out->len += text - 1;
}

struct vault *box_open(const struct vault *key, const struct box_label *label,
		       const char *text, struct err *err)
{
	AUTO_FREE unsigned char *box = mem_alloc(1, BOX_MAX);
	AUTO_BUF struct buf extra = { 0 };
	size_t len = 0;

	add_label(label, &extra);
	if (sodium_base642bin(box, BOX_MAX, text, strlen(text), NULL, &len, NULL,
			      BASE64) < 0 ||
	    len < HEAD + TAG || box[0] != VERSION) {
		err_set(err, ERR_CORRUPT, "what is stored is no sealed value");
		return NULL;
	}
	AUTO_VAULT struct vault *value = vault_create(len - HEAD - TAG);
	if (crypto_aead_xchacha20poly1305_ietf_decrypt(
		    (unsigned char *)vault_data(value), NULL, NULL, box + HEAD,
		    len - HEAD, (const unsigned char *)extra.data, extra.len, box + 1,
		    bytes(key)) < 0) {
		err_set(err, ERR_CORRUPT,
			"the sealed value was damaged, moved from another name, or sealed "
			"by another key");
		return NULL;
	}
	return TAKE(value);
}
