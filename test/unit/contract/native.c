// SPDX-License-Identifier: Apache-2.0
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "fixture.h"

#define ROLE "\"image\":\"host\",\"command\":[\"a\",\"b c\",\"$(reboot)\"]"

static void single(void)
{
	struct job *j =
		job_from("{\"name\":\"My_Job\",\"roles\":[{\"name\":\"main\"," ROLE "}]}",
			 "alice");
	struct contract_places p = { .attempt_folder = "/state/a",
				     .uid_base = 100000,
				     .uid_count = 65536 };
	struct bundle *b = contract_bundle(j, 0, &p);
	const struct mount *m;

	OK(b->ref.job == 42 && b->ref.task == 0 && b->ref.attempt == 2,
	   "the bundle knows whose it is");
	IS(b->folder, "/state/a", "and its folder");
	IS(b->hostname, "my-job-main-0",
	   "a host name has small letters, digits and dashes");
	OK(b->argc == 3 && strcmp(b->argv[2], "$(reboot)") == 0 && !b->argv[3],
	   "arguments are handed on as they are, no shell in between");
	OK(b->limits.cpu_milli == 1000 && b->limits.memory_bytes == 1 << 30 &&
		   b->shm_bytes == 1 << 29 && b->pids_max > 0,
	   "limits are those of the role");
	OK(b->uid_base == 100000 && b->uid_count == 65536,
	   "the owner's range of uids is handed on");
	IS(b->workdir, "/ml/usercode", "the code's folder is the working folder");
	m = mount_at(b, "/ml/usercode");
	OK(m && m->kind == MOUNT_DIR && !m->source, "which is empty without a snapshot");
	m = mount_at(b, "/ml/input/config/hyperparameters.json");
	OK(m && m->kind == MOUNT_FILE && strcmp(m->content->text, "{}\n") == 0 &&
		   m->content->len == 3,
	   "no hyperparameters are an empty object");
	IS(env(b, "YARD_JOB_ID"), "42", "YARD_JOB_ID");
	IS(env(b, "YARD_JOB_NAME"), "My_Job", "YARD_JOB_NAME");
	IS(env(b, "YARD_ROLE"), "main", "YARD_ROLE");
	IS(env(b, "YARD_TASK_INDEX"), "0", "YARD_TASK_INDEX");
	IS(env(b, "YARD_RANK"), "0", "YARD_RANK");
	IS(env(b, "YARD_WORLD_SIZE"), "1", "YARD_WORLD_SIZE");
	IS(env(b, "YARD_ATTEMPT"), "2", "YARD_ATTEMPT");
	IS(env(b, "YARD_ADDRESS"), "127.1.1.47", "YARD_ADDRESS");
	IS(env(b, "YARD_HOSTS"), "127.1.1.47", "YARD_HOSTS");
	IS(env(b, "HOME"), "/home/alice", "HOME");
	IS(env(b, "USER"), "alice", "USER");
	IS(env(b, "SHELL"), "/bin/sh", "SHELL");
	IS(env(b, "LANG"), "C.UTF-8", "LANG");
	IS(env(b, "TMPDIR"), "/tmp", "TMPDIR");
	OK(env(b, "PATH") && strstr(env(b, "PATH"), "/usr/bin"), "PATH");
	OK(!env(b, "MASTER_ADDR") && !env(b, "RANK") && !env(b, "WORLD_SIZE"),
	   "a lone task has nobody to meet");
	OK(!env(b, "CUDA_VISIBLE_DEVICES"), "without devices nothing is said about them");
	bundle_destroy(b);
	job_destroy(j);
}

static void share(void)
{
	struct job *j =
		job_from("{\"name\":\"s\",\"roles\":[{\"name\":\"main\"," ROLE
			 ",\"resources\":{\"devices\":{\"gpu:a100|v100\":0.25}}}]}",
			 "alice");
	struct placement *p = &j->tasks[0].place;
	struct bundle *b;

	strcpy(p->devices[0].type, "gpu:v100");
	p->devices[0].mask = 4;
	p->devices[0].share_milli = 250;
	b = contract_bundle(j, 0, &(struct contract_places){ .attempt_folder = "/a" });
	IS(env(b, "YARD_DEVICES_GPU_V100"), "2", "a shared device is named as any other");
	IS(env(b, "YARD_DEVICE_SHARE"), "0.25", "and how much of it is the task's");
	IS(env(b, "CUDA_VISIBLE_DEVICES"), "2", "it is seen whole");
	bundle_destroy(b);
	job_destroy(j);
}

static const char gang[] =
	"{\"name\":\"g\",\"roles\":["
	"{\"name\":\"ps\",\"count\":1," ROLE
	",\"ports\":{\"master\":{\"count\":1},\"data-x\":{\"count\":2},\"web\":{\"port\":8080}}},"
	"{\"name\":\"Big_Worker\",\"count\":2," ROLE
	",\"env\":{\"PATH\":\"/mine\",\"RANK\":\"9\",\"Q\":\"it's \\\"quoted\\\"\\n$HOME\"},"
	"\"resources\":{\"cpu\":2,\"memory\":\"2Gi\",\"shm\":\"1Gi\",\"devices\":{\"gpu:a100\":2,\"npu\":1}}}],"
	"\"inputs\":{\"my.data\":\"/d\"},\"outputs\":{\"model\":null,\"log-s\":\"/o\"},"
	"\"hyperparameters\":{\"lr\":0.1,\"s\":\"x\\\"y\",\"l\":[1,{\"a\":null}]},"
	"\"services\":{\"front-end\":{\"role\":\"ps\",\"port\":\"web\"},\"bulk\":{\"role\":\"ps\",\"port\":\"data-x\"}}}";

static void several(void)
{
	struct job *j = job_from(gang, "bob");
	const char *inputs[] = { "/host/d" }, *outputs[] = { "/host/m", "/host/o" };
	struct contract_places p = { .attempt_folder = "/a",
				     .code = "/code/t",
				     .inputs = inputs,
				     .outputs = outputs,
				     .user_path = "/home/bob/bin:/bin",
				     .uid_base = -1 };
	struct placement *first = &j->tasks[0].place, *last = &j->tasks[2].place;
	struct bundle *b;
	const struct mount *m;

	memcpy(first->ports, (int[]){ 20001, 20002, 20003, 8080 }, 4 * sizeof(int));
	first->port_count = 4;
	strcpy(last->devices[0].type, "gpu:a100");
	last->devices[0].mask = UINT64_C(1) << 63 | 4;
	strcpy(last->devices[1].type, "npu");
	last->devices[1].mask = 1;
	b = contract_bundle(j, 2, &p);

	IS(b->hostname, "g-big-worker-1", "the host name has role and index");
	IS(env(b, "YARD_ROLE"), "Big_Worker", "the role as it was written");
	IS(env(b, "YARD_TASK_INDEX"), "1", "the index counts inside the role");
	IS(env(b, "YARD_RANK"), "2", "the rank counts through the job");
	IS(env(b, "YARD_WORLD_SIZE"), "3", "the size of the whole job");
	IS(env(b, "YARD_HOSTS"), "127.1.1.47,127.1.1.48,127.1.1.49",
	   "everybody's address by rank");
	IS(env(b, "MASTER_ADDR"), "127.1.1.47", "the master is rank 0");
	IS(env(b, "MASTER_PORT"), "20001", "its port is the one named master");
	IS(env(b, "WORLD_SIZE"), "3", "WORLD_SIZE");
	IS(env(b, "RANK"), "9", "a role's own variable wins over a default");
	IS(env(b, "PATH"), "/mine", "also over PATH");
	IS(env(b, "Q"), "it's \"quoted\"\n$HOME", "values are handed on byte by byte");
	IS(env(b, "YARD_SERVICE_FRONT_END"), "127.1.1.47:8080",
	   "a service is an address and a port");
	IS(env(b, "YARD_SERVICE_BULK"), "127.1.1.47:20002", "of several ports the first");
	IS(env(b, "YARD_DEVICES_GPU_A100"), "2,63",
	   "devices by kind, the last of 64 too");
	IS(env(b, "YARD_DEVICES_NPU"), "0", "another kind");
	IS(env(b, "CUDA_VISIBLE_DEVICES"), "2,63", "what CUDA looks for");
	IS(env(b, "YARD_INPUT_MY_DATA"), "/ml/input/data/my.data",
	   "the variable is made to fit, the path is not");
	IS(env(b, "YARD_OUTPUT_LOG_S"), "/ml/output/log-s", "outputs likewise");
	m = mount_at(b, "/ml/input/data/my.data");
	OK(m && m->kind == MOUNT_BIND_RO && strcmp(m->source, "/host/d") == 0,
	   "inputs cannot be written");
	m = mount_at(b, "/ml/output/model");
	OK(m && m->kind == MOUNT_BIND_RW && strcmp(m->source, "/host/m") == 0,
	   "outputs can");
	m = mount_at(b, "/ml/usercode");
	OK(m && m->kind == MOUNT_SCRATCH && strcmp(m->source, "/code/t") == 0,
	   "writes to the code vanish");
	m = mount_at(b, "/ml/input/config/hyperparameters.json");
	IS(m ? m->content->text : "",
	   "{\"lr\":0.1,\"s\":\"x\\\"y\",\"l\":[1,{\"a\":null}]}\n",
	   "hyperparameters keep their kinds");
	m = mount_at(b, "/etc/hosts");
	IS(m ? m->content->text : "",
	   "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.1.1.47 g-ps-0 ps-0\n"
	   "127.1.1.48 g-big-worker-0 big-worker-0\n127.1.1.49 g-big-worker-1 big-worker-1\n",
	   "every task finds every other by name");
	OK(b->limits.memory_bytes == INT64_C(2) << 30 && b->place.slot == 302,
	   "limits and place of this very task");
	bundle_destroy(b);
	b = contract_bundle(j, 0, &p);
	IS(env(b, "YARD_PORT_MASTER"), "20001", "a port by name");
	IS(env(b, "YARD_PORT_DATA_X"), "20002,20003",
	   "several ports of one name are a list");
	IS(env(b, "YARD_PORT_WEB"), "8080", "a fixed port");
	IS(env(b, "PATH"), "/home/bob/bin:/bin",
	   "PATH is the submitter's in private mode");
	bundle_destroy(b);
	job_destroy(j);
}

/* Every name in the environment is one a shell can use. */
static void names(void)
{
	struct job *j = job_from(gang, "b.o'b;x");
	const char *inputs[] = { "/i" }, *outputs[] = { "/m", "/o" };
	struct contract_places p = { .attempt_folder = "/a",
				     .inputs = inputs,
				     .outputs = outputs };
	int odd = 0;

	for (int rank = 0; rank < 3; rank++) {
		struct bundle *b = contract_bundle(j, rank, &p);
		for (size_t i = 0; i < b->env.count; i++) {
			const char *k = b->env.items[i].key;
			odd += strspn(k, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
			       strlen(k);
		}
		if (rank == 0)
			IS(env(b, "HOME"), "/home/b-o-b-x",
			   "an odd user name makes a plain folder");
		bundle_destroy(b);
	}
	IS_INT(odd, 0, "variables have capital letters, digits and _ only");
	job_destroy(j);
}

static void long_names(void)
{
	char json[512], job[129] = { 0 }, role[41] = { 0 };
	struct contract_places p = { .attempt_folder = "/a" };
	struct job *j;
	struct bundle *b;

	memset(job, 'j', 128);
	memset(role, 'r', 40);
	snprintf(json, sizeof json,
		 "{\"name\":\"%s\",\"roles\":[{\"name\":\"%s\",\"count\":4096," ROLE
		 "}]}",
		 job, role);
	j = job_from(json, "u");
	b = contract_bundle(j, 4095, &p);
	OK(strlen(b->hostname) == 63, "a long job name gives way: %s", b->hostname);
	OK(str_ends(b->hostname, "r-4095") && str_starts(b->hostname, "jjjj"),
	   "role and index stay");
	IS(env(b, "MASTER_PORT"), "29500",
	   "without a port named master it is the usual one");
	OK(strlen(env(b, "YARD_HOSTS")) < 128 << 10,
	   "4096 addresses still fit one variable");
	struct contract_peers *peers = contract_peers_create(j, NULL, NULL);
	p.peers = peers;
	struct bundle *shared = contract_bundle(j, 4095, &p);
	OK(strcmp(env(b, "YARD_HOSTS"), env(shared, "YARD_HOSTS")) == 0 &&
		   strcmp(mount_at(b, "/etc/hosts")->content->text,
			  mount_at(shared, "/etc/hosts")->content->text) == 0,
	   "what is made once for all is the same");
	struct bundle *other = contract_bundle(j, 0, &p);
	OK(other->env_peers == shared->env_peers &&
		   mount_at(other, "/etc/hosts")->content ==
			   mount_at(shared, "/etc/hosts")->content,
	   "and is there once for all");
	bundle_destroy(other);
	bundle_destroy(shared);
	contract_peers_destroy(peers);
	contract_peers_destroy(NULL);
	bundle_destroy(b);
	job_destroy(j);
}

int main(void)
{
	single();
	share();
	several();
	names();
	long_names();
	return END();
}
