// SPDX-License-Identifier: Apache-2.0
/* The contract of an estimator's job: every variable, every file, nothing else. */
#include "tap.h"

#include "base/utf8.h"
#include "fixture.h"

#define ROLE "\"name\":\"main\",\"image\":\"host\""

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct pair *)a)->key, ((const struct pair *)b)->key);
}

/* The variables that are not YARD_*, sorted, a line each. */
static char *listed(const struct pairs *env)
{
	AUTO_FREE struct pair *all = mem_dup(env->items, env->count * sizeof *all);
	struct buf out = { 0 };

	qsort(all, env->count, sizeof *all, by_name);
	for (size_t i = 0; i < env->count; i++)
		if (!str_starts(all[i].key, "YARD_"))
			buf_printf(&out, "%s=%s\n", all[i].key, all[i].value);
	return buf_take(&out);
}

static const char two[] =
	"{\"name\":\"fit\",\"contract\":\"estimator\",\"requirements\":true,\"roles\":[{" ROLE
	",\"count\":2,\"command\":\"python train.py $PAI_USER_ARGS > log\","
	"\"env\":{\"MINE\":\"1\",\"WORLD_SIZE\":\"9\",\"PAI_TRAINING_JOB_ID\":\"x\"}}],"
	"\"inputs\":{\"train-data\":\"/d\",\"Dir.x\":\"/f/one.csv\"},"
	"\"outputs\":{\"tensorboard\":null,\"extra\":null},"
	"\"hyperparameters\":{\"batch-size\":32,\"train.learning_rate\":1e-4,\"name\":\"a b\","
	"\"on\":true,\"layers\":[1,2],\"\xe6\x95\xb0\":\"\"}}";

static const char second_task[] =
	"HOME=/home/alice\nHOSTNAME=trainrank-worker-0\nLANG=C.UTF-8\nLOGNAME=alice\n"
	"MASTER_ADDR=trainrank-master-0\nMASTER_PORT=23456\nMINE=1\nNPROC_PER_NODE=0\n"
	"PAI_CONFIG_DIR=/ml/input/config/\n"
	"PAI_HPS={\"batch-size\":\"32\",\"layers\":\"[1,2]\",\"name\":\"a b\",\"on\":\"true\","
	"\"train.learning_rate\":\"1e-4\",\"\xe6\x95\xb0\":\"\"}\n"
	"PAI_HPS_BATCH_SIZE=32\nPAI_HPS_LAYERS=[1,2]\nPAI_HPS_NAME=a b\nPAI_HPS_ON=true\n"
	"PAI_HPS_TRAIN_LEARNING_RATE=1e-4\nPAI_HPS__=\n"
	"PAI_INPUT_DIR_X=/ml/input/data/Dir.x/one.csv\nPAI_INPUT_TRAIN_DATA=/ml/input/data/train-data/\n"
	"PAI_OUTPUT_CHECKPOINTS=/ml/output/checkpoints/\nPAI_OUTPUT_EXTRA=/ml/output/extra/\n"
	"PAI_OUTPUT_LOGS=/ml/output/logs/\nPAI_OUTPUT_MODEL=/ml/output/model/\n"
	"PAI_OUTPUT_TENSORBOARD=/ml/output/tensorboard/\n"
	"PAI_TRAINING_JOB_ID=trainrank\n"
	"PAI_USER_ARGS=--batch-size 32 --train.learning_rate 1e-4 --name 'a b' --on true --layers '[1,2]' '--\xe6\x95\xb0' ''\n"
	"PAI_WORKING_DIR=/ml/usercode/\n"
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/ml/bin\n"
	"PYTHONUNBUFFERED=1\nRANK=1\nSHELL=/bin/sh\nTMPDIR=/tmp\nUSER=alice\nWORLD_SIZE=9\n";

/* Puts a word of the table in place of the id, which is tested by itself. */
static char *without_id(const char *text, const char *id)
{
	struct buf out = { 0 };

	for (const char *p = text; *p;) {
		if (str_starts(p, id)) {
			buf_adds(&out, "trainrank");
			p += strlen(id);
		} else {
			buf_addc(&out, *p++);
		}
	}
	return buf_take(&out);
}

static void whole(void)
{
	struct job *j = job_from(two, "alice");
	const char *inputs[] = { "/host/d", "/host/one.csv" };
	const char *files[] = { NULL, "one.csv" };
	const char *outputs[] = { "/o/l", "/o/e", "/o/m", "/o/c" };
	struct contract_places p = { .attempt_folder = "/a",
				     .yard = "here",
				     .inputs = inputs,
				     .input_files = files,
				     .outputs = outputs,
				     .uid_base = 100000,
				     .uid_count = 65536 };
	struct bundle *b = contract_bundle(j, 1, &p);
	AUTO_FREE char *all = listed(&b->env);
	AUTO_FREE char *got = without_id(all, env(b, "PAI_TRAINING_JOB_ID"));
	const struct mount *m;

	IS(got, second_task, "these are all variables, and these their values");
	OK(str_starts(b->hostname, "train") && str_ends(b->hostname, "-worker-0"),
	   "the machine has that name: %s", b->hostname);
	IS(b->argv[2],
	   "python train.py --batch-size 32 --train.learning_rate 1e-4 --name 'a b' --on true "
	   "--layers '[1,2]' '--\xe6\x95\xb0' '' > log",
	   "the command gets its arguments whole");
	m = mount_at(b, "/ml/input/config/hyperparameters.json");
	IS(m ? m->content->text : "",
	   "{\"batch-size\":\"32\",\"train.learning_rate\":\"1e-4\",\"name\":\"a b\",\"on\":\"true\","
	   "\"layers\":\"[1,2]\",\"\xe6\x95\xb0\":\"\"}\n",
	   "the file has texts, in the order given");
	m = mount_at(b, "/ml/input/data/Dir.x/one.csv");
	OK(m && m->kind == MOUNT_BIND_RO && strcmp(m->source, "/host/one.csv") == 0,
	   "a file lies in the folder of its channel");
	m = mount_at(b, "/ml/output/tensorboard");
	OK(m && m->kind == MOUNT_LINK && strcmp(m->source, "/ml/output/logs") == 0,
	   "logs and tensorboard are one folder");
	m = mount_at(b, "/etc/hosts");
	OK(m && strstr(m->content->text, env(b, "MASTER_ADDR")) &&
		   strstr(m->content->text, b->hostname) &&
		   strstr(m->content->text, " fit-main-1 main-1\n"),
	   "tasks find each other by name");
	OK(!b->stage_count && !b->pip_config, "what requires nothing installs nothing");
	IS_INT(b->notes.count, 0, "and nothing is to be said");
	bundle_destroy(b);
	job_destroy(j);
}

static void ids(void)
{
	char a[CONTRACT_TRAINING_ID], b[CONTRACT_TRAINING_ID], seen[2000][17];
	int odd = 0, twice = 0;

	contract_training_id("x", 7, a);
	contract_training_id("x", 7, b);
	IS(a, b, "the same job of the same yard has the same id");
	contract_training_id("y", 7, b);
	OK(strcmp(a, b) != 0, "of another yard another one");
	for (int i = 0; i < 2000; i++) {
		contract_training_id("x", i, seen[i]);
		odd += strlen(seen[i]) != 16 || !str_starts(seen[i], "train") ||
		       strspn(seen[i], "abcdefghijklmnopqrstuvwxyz0123456789") != 16;
		for (int k = 0; k < i; k++)
			twice += strcmp(seen[i], seen[k]) == 0;
	}
	IS_INT(odd, 0, "train and 11 small letters or digits");
	IS_INT(twice, 0, "no two jobs share one");
}

static bool noted(const struct bundle *b, const char *words)
{
	for (size_t i = 0; i < b->notes.count; i++)
		if (strstr(b->notes.items[i].value, words))
			return true;
	return false;
}

static void collisions(void)
{
	struct job *j = job_from(
		"{\"name\":\"c\",\"contract\":\"estimator\",\"roles\":[{" ROLE
		",\"command\":[\"x\"]}],\"inputs\":{\"a-b\":\"/1\",\"a.b\":\"/2\"},"
		"\"hyperparameters\":{\"l-r\":1,\"l.r\":2,\"lr\":3}}",
		"u");
	const char *inputs[] = { "/1", "/2" }, *outputs[] = { "/m", "/c", "/l" };
	struct contract_places p = { .attempt_folder = "/a",
				     .inputs = inputs,
				     .outputs = outputs };
	struct bundle *b = contract_bundle(j, 0, &p);

	IS(env(b, "PAI_HPS_L_R"), "2", "of two names that become one the last counts");
	IS(env(b, "PAI_INPUT_A_B"), "/ml/input/data/a.b/", "of channels too");
	OK(noted(b, "\"l-r\" and \"l.r\" are both PAI_HPS_L_R"), "which the log tells");
	OK(noted(b, "the inputs \"a-b\" and \"a.b\""), "of both");
	IS_INT(b->notes.count, 2, "and no more than that");
	OK(mount_at(b, "/ml/input/data/a-b") && mount_at(b, "/ml/input/data/a.b"),
	   "both folders are there");
	IS(env(b, "RANK"), "0", "a lone task has its rank");
	IS(env(b, "WORLD_SIZE"), "1", "and world");
	OK(str_ends(b->hostname, "-master-0"), "and is the master");
	bundle_destroy(b);
	job_destroy(j);
}

/* 130 hyperparameters of 1 KiB: each fits a variable, all together do not. */
static void too_long(void)
{
	AUTO_BUF struct buf json = { 0 };
	const char *outputs[] = { "/m", "/c", "/l" };
	struct contract_places p = { .attempt_folder = "/a", .outputs = outputs };
	char value[1025] = { 0 };
	struct job *j;
	struct bundle *b;

	memset(value, 'v', 1024);
	buf_adds(&json,
		 "{\"name\":\"c\",\"contract\":\"estimator\",\"roles\":[{" ROLE
		 ",\"command\":\"x $PAI_USER_ARGS\"}],\"hyperparameters\":{\"a\":1");
	for (int i = 0; i < 130; i++)
		buf_printf(&json, ",\"p%d\":\"%s\"", i, value);
	buf_adds(&json, "}}");
	j = job_from(buf_str(&json), "u");
	b = contract_bundle(j, 0, &p);
	OK(!env(b, "PAI_HPS") && !env(b, "PAI_USER_ARGS"),
	   "what no variable can hold is left out");
	OK(noted(b, "PAI_HPS would have") && noted(b, "PAI_USER_ARGS would have"),
	   "the log says so, and where else to look");
	IS(b->argv[2], "x $PAI_USER_ARGS", "the command stays as it is");
	OK(env(b, "PAI_HPS_P129") && strlen(env(b, "PAI_HPS_P129")) == 1024,
	   "each alone is there");
	OK(mount_at(b, "/ml/input/config/hyperparameters.json")->content->len > 130 << 10,
	   "and the file has all");
	bundle_destroy(b);
	job_destroy(j);
}

static uint32_t random_state = 7;

static uint32_t rnd(uint32_t below)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % below;
}

/* Names of any characters: one of the result for each, none that a shell would mind. */
static void escaping(void)
{
	int odd = 0;

	for (int round = 0; round < 20000; round++) {
		char name[128];
		uint32_t points[16];
		size_t len = 0, count = 1 + rnd(16);
		for (size_t i = 0; i < count; i++) {
			static const uint32_t tops[] = { 0x7f, 0x7ff, 0xd7ff, 0x10ffff };
			uint32_t top = tops[rnd(4)];
			points[i] = 1 + rnd(top);
			if (points[i] >= 0xd800 && points[i] < 0xe000)
				points[i] = 'a' + rnd(26);
			len += utf8_write(points[i], name + len);
		}
		name[len] = 0;
		AUTO_FREE char *got = spec_variable("P_", name);
		odd += strlen(got) != 2 + count;
		for (size_t i = 0; i < count && strlen(got) == 2 + count; i++) {
			uint32_t c = points[i];
			char want = '_';
			if (c < 128 && strchr("abcdefghijklmnopqrstuvwxyz", (int)c))
				want = (char)(c - 'a' + 'A');
			else if (c < 128 &&
				 strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", (int)c))
				want = (char)c;
			odd += got[2 + i] != want;
		}
	}
	IS_INT(odd, 0, "each character becomes one capital, digit or _");
}

static void per_device(void)
{
	struct job *j = job_from(
		"{\"name\":\"d\",\"roles\":[{\"name\":\"ps\",\"image\":\"host\","
		"\"command\":[\"x\"]},{\"name\":\"worker\",\"image\":\"host\",\"count\":2,"
		"\"command\":[\"x\"],\"per-device\":true,"
		"\"resources\":{\"devices\":{\"gpu\":2}}}]}",
		"u");
	struct contract_places p = { .attempt_folder = "/a" };
	struct bundle *b;

	for (int i = 1; i < 3; i++) {
		strcpy(j->tasks[i].place.devices[0].type, "gpu");
		j->tasks[i].place.devices[0].mask = i == 1 ? 5 : UINT64_C(1) << 63 | 8;
	}
	b = contract_bundle(j, 2, &p);
	IS_INT(b->process_count, 2, "a process for each device");
	IS(env(b, "NPROC_PER_NODE"), "2", "NPROC_PER_NODE");
	IS(env(b, "YARD_WORLD_SIZE"), "3", "the yard counts tasks");
	IS(pairs_get(&b->processes[0], "LOCAL_RANK"), "0", "LOCAL_RANK of the first");
	IS(pairs_get(&b->processes[1], "LOCAL_RANK"), "1", "and the second");
	IS(pairs_get(&b->processes[0], "RANK"), "3",
	   "ranks count processes: one of ps, two of the first worker");
	IS(pairs_get(&b->processes[1], "RANK"), "4", "and on");
	IS(pairs_get(&b->processes[1], "WORLD_SIZE"), "5", "so does the world");
	IS(pairs_get(&b->processes[1], "LOCAL_WORLD_SIZE"), "2", "LOCAL_WORLD_SIZE");
	IS(pairs_get(&b->processes[1], "GROUP_RANK"), "2", "GROUP_RANK is the task's");
	IS(pairs_get(&b->processes[0], "YARD_DEVICE"), "3", "the first device");
	IS(pairs_get(&b->processes[1], "YARD_DEVICE"), "63", "the second");
	IS(env(b, "CUDA_VISIBLE_DEVICES"), "3,63", "all see all of the task's");
	IS(env(b, "TF_CONFIG"),
	   "{\"cluster\":{\"ps\":[\"127.1.1.47:2222\"],\"worker\":[\"127.1.1.48:2222\",\"127.1.1.49:2222\"]},"
	   "\"task\":{\"type\":\"worker\",\"index\":1},\"environment\":\"cloud\"}",
	   "TensorFlow knows its cluster");
	bundle_destroy(b);
	b = contract_bundle(j, 0, &p);
	IS_INT(b->process_count, 0, "a role without it has its one process");
	IS(env(b, "NPROC_PER_NODE"), "1", "of which a launcher starts one");
	bundle_destroy(b);
	job_destroy(j);
}

static void tensorflow(void)
{
	struct job *j = job_from(
		"{\"name\":\"t\",\"roles\":[{\"name\":\"chief\",\"image\":\"host\",\"command\":[\"x\"],"
		"\"ports\":{\"tf\":{\"count\":1}}},"
		"{\"name\":\"evaluator\",\"image\":\"host\",\"command\":[\"x\"]}]}",
		"u");
	struct contract_places p = { .attempt_folder = "/a" };
	struct bundle *b;

	j->tasks[0].place.ports[0] = 20007;
	j->tasks[0].place.port_count = 1;
	b = contract_bundle(j, 1, &p);
	IS(env(b, "TF_CONFIG"),
	   "{\"cluster\":{\"chief\":[\"127.1.1.47:20007\"]},\"task\":{\"type\":\"evaluator\",\"index\":0},"
	   "\"environment\":\"cloud\"}",
	   "an evaluator is not in the cluster; a port named tf counts");
	bundle_destroy(b);
	job_destroy(j);
	j = job_from(
		"{\"name\":\"t\",\"roles\":[{\"name\":\"worker\",\"count\":2,\"image\":\"host\","
		"\"command\":[\"x\"]},{\"name\":\"main\",\"image\":\"host\",\"command\":[\"x\"]}]}",
		"u");
	b = contract_bundle(j, 0, &p);
	OK(!env(b, "TF_CONFIG"), "with a role of no meaning to it nothing is said");
	bundle_destroy(b);
	job_destroy(j);
}

int main(void)
{
	whole();
	ids();
	collisions();
	too_long();
	escaping();
	per_device();
	tensorflow();
	return END();
}
