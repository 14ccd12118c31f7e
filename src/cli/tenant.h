// SPDX-License-Identifier: Apache-2.0
/* tenant.h - a group's share of the nodes, as options and in words. */
#pragma once

#include "base/doc.h"
#include "base/json.h"
#include "base/opts.h"
#include "cli/cli.h"

struct tenant_flags {
	const char *parent, *weight, *guarantee, *borrow, *lend, *order, *notice;
	struct opts_list shapes;
	bool clear;
};

#define TENANT_INTO(type, field, member) OPT_INTO(type, field.member)
/* clang-format off */
#define OPT_TENANT(type, field)                                                          \
	{ "parent", 0, OPT_TEXT, TENANT_INTO(type, field, parent), "GROUP", "the group it is below; none: the root" }, \
	{ "weight", 'w', OPT_TEXT, TENANT_INTO(type, field, weight), "N", "how much of what is left it gets beside its siblings (1)" }, \
	{ "guarantee", 'g', OPT_TEXT, TENANT_INTO(type, field, guarantee), "WHAT=N,...", "what it gets whenever it asks, such as gpu=16,cpu=64,mem=512Gi; none" }, \
	{ "guarantee-shape", 0, OPT_LIST, TENANT_INTO(type, field, shapes), "NxMgpu", "places that are guaranteed whole: 2x8gpu is two of 8 gpus of one node; none" }, \
	{ "borrow", 0, OPT_TEXT, TENANT_INTO(type, field, borrow), "WHAT=N,...", "at most so much beyond its guarantee; none: any" }, \
	{ "lend", 0, OPT_TEXT, TENANT_INTO(type, field, lend), "WHAT=N,...", "at most so much of its guarantee is lent to others; none: all" }, \
	{ "order", 0, OPT_TEXT, TENANT_INTO(type, field, order), "ORDER", "of its own jobs: fifo, short or served" }, \
	{ "notice", 0, OPT_TEXT, TENANT_INTO(type, field, notice), "TIME", "how long before what it borrowed is taken back" }, \
	{ "no-share", 0, OPT_FLAG, TENANT_INTO(type, field, clear), NULL, "take back all that was said of its share" }
/* clang-format on */

bool tenant_flags_given(const struct tenant_flags *f);
/* The field "tenant" of a change. */
int tenant_flags_write(struct json *j, const struct tenant_flags *f, struct err *err);
/* Says so when more is promised now than all machines have. */
void tenant_warn(struct cli *c);
/* Lines for `yard group show`: only what was said. */
void tenant_words(const struct doc_node *tenant, struct buf *out);
/* What it is guaranteed, shapes counted as devices; cpu and memory -1: nothing is said. */
void tenant_guarantee(const struct doc_node *tenant, struct resources *out);
/* "gpu 16, 64 cpu"; "" for none. */
void tenant_amount_words(const struct doc_node *amount, struct buf *out);
