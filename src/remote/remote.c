// SPDX-License-Identifier: Apache-2.0
#include "remote/remote.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define REQUEST_MAX (1u << 20)

static const struct remote_ops *const providers[] = {
	[REMOTE_HTTP] = &remote_http_ops,
	[REMOTE_S3] = &remote_s3_ops,
	[REMOTE_OSS] = &remote_s3_ops,
	[REMOTE_HDFS] = &remote_webhdfs_ops,
};

static int look(struct remote_job *j, struct err *err)
{
	const struct remote *r = j->remote;
	struct net *n = net_create();
	int rc = r->uri.folder ? r->ops->list(r, n, j->manifest, err)
			       : r->ops->stat(r, n, j->manifest, err);

	net_destroy(n);
	if (rc < 0 || manifest_finish(j->manifest, err) < 0)
		return -1;
	return manifest_write(j->manifest, REMOTE_MANIFEST_FD, err);
}

static int carry_out(enum remote_op op, struct remote_job *j, struct err *err)
{
	int64_t files = 0;
	int rc = -1;

	if ((op == REMOTE_GET || op == REMOTE_PROVE) &&
	    manifest_read(REMOTE_MANIFEST_FD, j->manifest, err) < 0)
		return -1;
	switch (op) {
	case REMOTE_LOOK:
		rc = look(j, err);
		break;
	case REMOTE_GET:
		rc = remote_get_all(j, err);
		break;
	case REMOTE_PROVE:
		rc = remote_prove_all(j, err);
		break;
	case REMOTE_PUT:
		rc = remote_put_all(j, &files, err);
		break;
	case REMOTE_OP_COUNT:
		break;
	}
	if (op != REMOTE_PUT)
		files = (int64_t)j->manifest->count;
	if (rc == 0)
		dprintf(j->says, "done %lld %lld\n", (long long)files,
			(long long)j->manifest->bytes);
	return rc;
}

static int serve(struct remote_request *q, struct err *err)
{
	AUTO_MANIFEST struct manifest m = { 0 };
	AUTO_REMOTE_URI struct remote_uri uri = { 0 };
	AUTO_FREE char *show = remote_uri_show(q->uri);

	if (remote_uri_parse(q->uri, &uri, err) < 0)
		return -1;
	struct remote r = { .ops = providers[uri.scheme],
			    .uri = uri,
			    .account = q->account,
			    .show = show,
			    .files_max = q->files_max,
			    .bytes_max = q->bytes_max };
	struct remote_job j = { &r, &m, REMOTE_FOLDER_FD, REMOTE_SAYS_FD };
	return carry_out(q->op, &j, err);
}

int remote_serve(int64_t uid, struct err *err)
{
	struct remote_request q = { 0 };
	struct vault *text = vault_from_fd(REMOTE_REQUEST_FD, REQUEST_MAX, err);
	int rc = text ? remote_request_read(text, &q, err) : -1;

	vault_unref(text);
	close(REMOTE_REQUEST_FD);
	/* Reads its settings and makes the crypto library ready while files can be opened. */
	net_setup();
	bool folder = q.op == REMOTE_GET || q.op == REMOTE_PUT;
	if (rc == 0)
		rc = remote_sandbox(folder ? REMOTE_FOLDER_FD : -1, uid, q.bytes_max,
				    err);
	if (rc == 0)
		rc = serve(&q, err);
	remote_request_fini(&q);
	return rc;
}
