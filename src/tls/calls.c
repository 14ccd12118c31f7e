// SPDX-License-Identifier: Apache-2.0
#include "tls/tls.h"

const struct tls_calls tls_calls = {
	.client_create = tls_client_create,
	.context_destroy = tls_context_destroy,
	.connect = tls_connect,
	.session_destroy = tls_session_destroy,
	.state = tls_session_state,
	.peer_fingerprint = tls_peer_fingerprint,
	.untrusted = tls_untrusted,
	.feed = tls_feed,
	.read = tls_read,
	.write = tls_write,
	.take = tls_take,
	.eof = tls_eof,
};
