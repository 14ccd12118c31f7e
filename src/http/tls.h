// SPDX-License-Identifier: Apache-2.0
/* tls.h - puts TLS under a connection: HTTP above it does not know.
 *
 * The handshake has the time a head has.  One who speaks plain HTTP to this door gets a
 * readable 400; other bytes that are no TLS end the connection.  TLS itself holds nothing
 * back: what it makes of an answer is the stream's to send, and counts as pending there.
 */
#pragma once

#include "http/conn.h"
#include "tls/tls.h"

void http_tls_filter(struct conn *c, struct tls_context *tls);
