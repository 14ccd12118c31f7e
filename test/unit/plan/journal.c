// SPDX-License-Identifier: Apache-2.0
/* A journal tells a second plan all that the first was told: it decides alike.  Nothing of
 * what a plan is told is left out of the tables; lines that make no sense are refused. */
#include "plan/journal.h"

#include "base/mem.h"
#include "base/str.h"
#include "mirror.h"
#include "plan/record.h"
#include "tap.h"

#define SEEDS 60
#define STEPS 120

/* ---- every byte has a row, but for padding ---- */

static void cover(const struct table *t, size_t at, bool *seen)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct field *f = &t->fields[i];
		static const size_t sizes[] = {
			[I64] = 8, [I32] = 4, [FLAG] = 1, [WORDS] = sizeof(char *)
		};
		size_t size = f->kind == TEXT   ? f->room
			      : f->kind == LIST ? 0
						: sizes[f->kind];
		memset(seen + at + f->at, 1, size);
		for (size_t k = 0; f->kind == LIST && k < f->room; k++)
			cover(f->item, at + f->at + k * f->item->size, seen);
		if (f->kind == LIST && f->count_size)
			memset(seen + at + f->count_at, 1, f->count_size);
	}
}

/* Padding is shorter than the greatest alignment and ends on a boundary. */
static bool covered(const struct table *t, size_t except, size_t except_size)
{
	bool *seen = mem_alloc(t->size, sizeof *seen);
	bool all = true;

	cover(t, 0, seen);
	memset(seen + except, 1, except_size);
	for (size_t i = 0, from; i < t->size; i++) {
		for (from = i; i < t->size && !seen[i]; i++)
			;
		all = all && i - from < 8 && (i == from || i % 4 == 0);
	}
	free(seen);
	return all;
}

static void check_tables(void)
{
	size_t roles = offsetof(struct plan_job, gang.roles);

	OK(covered(&record_node, 0, 0), "all of a node is in its table");
	OK(covered(&record_job, roles, sizeof(void *) + sizeof(size_t)),
	   "all of a job is in its table, but for the roles, which are a list of their own");
	OK(covered(&record_role, 0, 0), "all of a role is in its table");
	OK(covered(&record_place, 0, 0), "all of a placement is in its table");
	OK(covered(&record_quota, 0, 0), "all of a quota is in its table");
	OK(covered(&record_tenant, 0, 0), "all of a tenant's rule is in its table");
	OK(covered(&record_policy, 0, 0), "all of a policy is in its table");
	OK(covered(&record_use, 0, 0), "all of a use is in its table");
}

/* ---- a life, written down and lived again ---- */

struct life {
	struct mirror m;
	struct plan *plan;
	struct plan_hash *hash;
	struct buf journal;
	int64_t now_ms, next_id;
	int decisions;
};

static void tell(struct life *l, const struct plan_delta *d)
{
	journal_delta(d, &l->journal);
	plan_apply(l->plan, d);
}

static void decided(void *arg, const struct plan_decision *d)
{
	struct life *l = arg;

	plan_hash_add(l->hash, l->now_ms, d);
	l->decisions++;
	if (d->verb == PLAN_START)
		m_decide(&l->m, d, l->now_ms);
}

static void submit(struct life *l, uint64_t *seed)
{
	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &l->m.jobs[i];
		if (j->state != M_NONE)
			continue;
		m_make_job(j, l->next_id++, seed);
		j->job.submit_ms = l->now_ms;
		j->job.guess_ms = m_roll(seed, 100);
		tell(l, &(struct plan_delta){ .kind = PLAN_WAIT, .job = &j->job });
		return;
	}
}

static void stop(struct life *l, uint64_t *seed)
{
	struct m_job *j = &l->m.jobs[m_roll(seed, M_JOBS)];
	bool runs = j->state == M_RUNNING;

	if (j->state == M_NONE)
		return;
	tell(l, &(struct plan_delta){ .kind = runs ? PLAN_RELEASE : PLAN_LEAVE,
				      .id = j->job.id });
	j->state = M_NONE;
}

static void rule(struct life *l, uint64_t *seed)
{
	struct tenant_rule t = { .weight = 1 + m_roll(seed, 5),
				 .guarantee = { .cpu_milli = -1, .memory_bytes = -1 },
				 .borrow = { .cpu_milli = -1, .memory_bytes = -1 },
				 .lend = { .cpu_milli = -1, .memory_bytes = -1 },
				 .order = (enum tenant_order)m_roll(seed, 3) };
	struct plan_policy p = plan_policy_default;
	struct use u = { 1 + m_roll(seed, 1000), 7, 1 + m_roll(seed, 100000) };
	const char *group = m_groups[m_roll(seed, M_OWNERS)];

	p.fair = m_roll(seed, 2);
	p.backfill = m_roll(seed, 4) > 0;
	p.preempt = false;
	p.age_bound_ms = m_roll(seed, 500);
	tell(l, &(struct plan_delta){ .kind = PLAN_TENANT, .name = group, .tenant = &t });
	tell(l, &(struct plan_delta){ .kind = PLAN_POLICY, .policy = &p });
	tell(l,
	     &(struct plan_delta){
		     .kind = PLAN_USED, .name = group, .used = &u, .since_ms = 3600000 });
}

static void live(struct life *l, uint64_t *seed)
{
	for (int i = 0; i < M_NODES; i++) {
		m_make_node(&l->m, i, seed);
		tell(l,
		     &(struct plan_delta){ .kind = PLAN_NODE, .node = &l->m.nodes[i] });
	}
	for (int i = 0; i < STEPS; i++) {
		l->now_ms += m_roll(seed, 50);
		for (int k = m_roll(seed, 3); k > 0; k--)
			submit(l, seed);
		stop(l, seed);
		if (m_roll(seed, 30) == 0)
			rule(l, seed);
		journal_step(l->now_ms, &l->journal);
		plan_step(l->plan, l->now_ms, 0, decided, l);
		journal_hash(l->hash, &l->journal);
	}
}

/* 0: alike, 1: a hash differs, -1: a line was refused. */
static int replay(const struct buf *journal, struct err *err)
{
	struct plan *p = plan_create();
	struct journal_reader *r = journal_open(p);
	int result = 0;

	for (const char *at = buf_str(journal); *at && !result;) {
		size_t len = strcspn(at, "\n");
		result = journal_line(r, at, len, err);
		at += len + (at[len] == '\n');
	}
	journal_close(r);
	plan_destroy(p);
	return result;
}

/* Blanks the line: an empty one is no JSON, so another delta without meaning takes its place. */
static void forget_first_wait(struct buf *journal)
{
	static const char other[] = "{\"do\":\"leave\",\"id\":999999}";
	char *line = strstr(journal->data, "{\"do\":\"wait\"");
	size_t len = line ? strcspn(line, "\n") : 0;

	if (len < sizeof other)
		return;
	memset(line, ' ', len);
	memcpy(line, other, sizeof other - 1);
}

static void check_lives(void)
{
	int differ = 0, refused = 0, decisions = 0, noticed = 0;
	struct err err;

	for (uint64_t s = 1; s <= SEEDS; s++) {
		struct life *l = mem_alloc(1, sizeof *l);
		uint64_t seed = s * 7919;
		l->plan = plan_create();
		l->hash = plan_hash_create();
		l->next_id = 1;
		live(l, &seed);
		int got = replay(&l->journal, &err);
		if (got)
			printf("# seed %d: %s\n", (int)s,
			       got < 0 ? err.text : "a hash differs");
		differ += got > 0;
		refused += got < 0;
		decisions += l->decisions;
		forget_first_wait(&l->journal);
		noticed += replay(&l->journal, &err) > 0;
		plan_destroy(l->plan);
		plan_hash_destroy(l->hash);
		buf_fini(&l->journal);
		free(l);
	}
	IS_INT(refused, 0, "no line of %d lives is refused", SEEDS);
	IS_INT(differ, 0, "a plan that is told the same decides the same");
	OK(decisions > 10 * SEEDS, "and has something to decide: %d times", decisions);
	OK(noticed > SEEDS / 2, "one that is told less does not: %d times", noticed);
}

/* ---- what makes no sense ---- */

static int refuse(const char *line)
{
	struct plan *p = plan_create();
	struct journal_reader *r = journal_open(p);
	struct err err = { 0 };
	int got = journal_line(r, line, strlen(line), &err);

	journal_close(r);
	plan_destroy(p);
	return got < 0 && err.text[0];
}

static void check_refused(void)
{
	static const char *const lines[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"do\":\"dance\"}",
		"{\"do\":\"node\"}",
		"{\"do\":\"node\",\"node\":{}}",
		"{\"do\":\"node\",\"node\":{\"name\":7}}",
		"{\"do\":\"node\",\"node\":{\"name\":\"a\",\"legs\":4}}",
		"{\"do\":\"wait\",\"job\":{\"id\":1}}",
		"{\"do\":\"wait\",\"job\":{\"id\":0,\"user\":\"u\",\"group\":\"g\"}}",
		"{\"do\":\"held\",\"places\":7}",
		"{\"do\":\"asked\",\"job\":{\"id\":1,\"user\":\"u\",\"group\":\"g\"},\"roles\":[]}",
		("{\"do\":\"node\",\"node\":{\"name\":\"a\",\"capacity\":{\"devices\":"
		 "[{\"type\":\"gpu\",\"count\":65}]}}}"),
		"{\"do\":\"release\"}",
		"{\"do\":\"policy\"}",
		"{\"do\":\"quota-user\"}",
		"{\"do\":\"policy\",\"policy\":{\"fair\":1}}",
	};
	struct plan_hash *h = plan_hash_create();
	struct buf line = { 0 };
	struct err err;

	for (size_t i = 0; i < COUNT_OF(lines); i++)
		OK(refuse(lines[i]), "refused: %s", lines[i]);
	journal_hash(h, &line);
	IS_INT(replay(&line, &err), 0, "no decisions have the hash of none");
	line.data[30] = line.data[30] == '0' ? '1' : '0';
	IS_INT(replay(&line, &err), 1, "another hash is told apart");
	plan_hash_destroy(h);
	buf_fini(&line);
}

/* What the daemon takes from an admin it can read back. */
static void check_large(void)
{
	struct tenant_rule t = { .weight = 1 };
	struct plan_delta d = { .kind = PLAN_TENANT, .name = "g", .tenant = &t };
	struct buf line = { 0 };
	struct err err;

	resources_set_device(&t.guarantee, "gpu", INT32_MAX);
	t.guarantee.cpu_milli = t.guarantee.memory_bytes = INT64_C(9007199254740991);
	t.borrow = t.lend = t.guarantee;
	journal_delta(&d, &line);
	IS_INT(replay(&line, &err), 0, "a rule with the largest numbers is read back");
	buf_fini(&line);
}

int main(void)
{
	check_tables();
	check_large();
	check_lives();
	check_refused();
	return END();
}
