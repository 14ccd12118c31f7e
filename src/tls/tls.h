// SPDX-License-Identifier: Apache-2.0
/* tls.h - TLS 1.2 and 1.3 as a filter of bytes: no sockets and no threads of its own.
 *
 * A session is fed what came by the wire (tls_feed), then asked for clear bytes until it
 * has none (tls_read) and for bytes to send until it has none (tls_take): after every call
 * that is not tls_take, also one that failed, since its last words are an alert.  Used so
 * it holds no more than one record that is not whole yet, 16 KiB and a bit.
 *
 *   SHAKING ─> OPEN ─peer said its end─> ENDED      any ─error─> BROKEN
 *
 * Nothing clear is sent or given before OPEN, and a client's session is OPEN only when it
 * trusts the certificate.  Renegotiation, compression, early data and resumption of
 * sessions by a cache are off; what a client may speak by ALPN is http/1.1.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "tls/certificate.h"

#define TLS_UNREAD_MAX (512u << 10) /* fed and never read: a caller's bug, or an attack */

struct tls_context; /* what many sessions of one side share */
struct tls_session;

enum tls_state { TLS_SHAKING, TLS_OPEN, TLS_ENDED, TLS_BROKEN };

/* Files in PEM: the certificate with those above it behind it, and its key, which nobody
 * else may read (0600, or 0640 where root owns it). */
struct tls_context *tls_server_create(const char *certificate, const char *key,
				      struct err *err);
/* authorities: a file in PEM; NULL: those the system trusts. */
struct tls_context *tls_client_create(const char *authorities, struct err *err);
void tls_context_destroy(struct tls_context *c); /* NULL is fine; after its sessions */
const struct tls_certificate *tls_server_certificate(const struct tls_context *c);

/* Whom a client trusts.  With a pin: exactly that certificate, whatever it says and
 * whoever signed it.  Without: one for this host that an authority vouches for. */
struct tls_trust {
	const char *host; /* a name or an address */
	const char *pin;  /* as tls_fingerprint_read() gives it, or NULL */
	bool anybody;     /* no check at all: to find out a fingerprint, never to talk */
};

struct tls_session *tls_accept(struct tls_context *c);
struct tls_session *tls_connect(struct tls_context *c, const struct tls_trust *trust,
				struct err *err);
void tls_session_destroy(struct tls_session *s); /* NULL is fine */
enum tls_state tls_session_state(const struct tls_session *s);
/* A client's view of the server's certificate; "" before it was seen.  Also after it was
 * not trusted: then tls_untrusted(). */
const char *tls_peer_fingerprint(const struct tls_session *s);
bool tls_untrusted(const struct tls_session *s);

/* Takes all of it.  -1: BROKEN. */
int tls_feed(struct tls_session *s, const void *data, size_t len, struct err *err);
/* Clear bytes; 0: none now (or ENDED); -1: BROKEN. */
ssize_t tls_read(struct tls_session *s, void *out, size_t max, struct err *err);
/* Takes all of it.  Only when OPEN or ENDED. */
int tls_write(struct tls_session *s, const void *data, size_t len, struct err *err);
/* Bytes for the wire; 0: none now. */
size_t tls_take(struct tls_session *s, void *out, size_t max);
/* Says that our side is over; what comes from the other can still be read. */
void tls_end(struct tls_session *s);
/* The wire is over.  -1 when the peer did not say so: what came may have been cut off. */
int tls_eof(struct tls_session *s, struct err *err);

/* A client's calls as a table: `yard` loads OpenSSL, which takes longer than most of its
 * commands, only when it talks TLS (cli/tls_load.h). */
struct tls_calls {
	struct tls_context *(*client_create)(const char *authorities, struct err *err);
	void (*context_destroy)(struct tls_context *c);
	struct tls_session *(*connect)(struct tls_context *c,
				       const struct tls_trust *trust, struct err *err);
	void (*session_destroy)(struct tls_session *s);
	enum tls_state (*state)(const struct tls_session *s);
	const char *(*peer_fingerprint)(const struct tls_session *s);
	bool (*untrusted)(const struct tls_session *s);
	int (*feed)(struct tls_session *s, const void *data, size_t len, struct err *err);
	ssize_t (*read)(struct tls_session *s, void *out, size_t max, struct err *err);
	int (*write)(struct tls_session *s, const void *data, size_t len,
		     struct err *err);
	size_t (*take)(struct tls_session *s, void *out, size_t max);
	int (*eof)(struct tls_session *s, struct err *err);
};

extern const struct tls_calls tls_calls;
#define TLS_MODULE "yard-tls.so" /* has tls_calls under the name yard_tls_calls */
