// SPDX-License-Identifier: Apache-2.0
/* s3.h - what s3.c and s3_put.c share: a signed request about a key of the bucket. */
#pragma once

#include "remote/remote.h"
#include "remote/sign.h"

#define S3_PARAMS_MAX 6

struct s3_ask {
	const struct remote *remote;
	const char *method;
	char *key; /* NULL: the bucket itself */
	struct sign_param params[S3_PARAMS_MAX];
	size_t param_count;
	/* What is sent, as in struct net_request, with its hash; size -1: nothing. */
	int body_fd;
	const char *body_data;
	int64_t body_at, body_size;
	char payload[SIGN_HASH_HEX];
	bool checksums; /* kept with the object are asked for */
};

void s3_ask_init(struct s3_ask *a, const struct remote *r, const char *method);
/* The key of a name below the address's folder (or of the address itself). */
char *s3_key(const struct remote *r, const char *name);
/* Signed as of now; for net_plan.ask (arg: struct s3_ask) as well. */
int s3_request(void *ask, struct net_request *q, struct err *err);
/* Tries until answered; an unhappy status is an error that names the key. */
int s3_do(const struct s3_ask *ask, struct net *n, struct net_answer *a, struct err *err);
int s3_put(const struct remote *r, struct net *n, const struct remote_put *p,
	   struct err *err);
