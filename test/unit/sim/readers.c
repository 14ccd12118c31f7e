// SPDX-License-Identifier: Apache-2.0
/* Traces and clusters as they come: what is there is read, what is wrong is named by its
 * place, and the reader is found by the first line. */
#include "base/mem.h"
#include "base/str.h"
#include "sim/sim.h"
#include "tap.h"

static int read(const char *text, struct sim_trace *t, struct err *err)
{
	*err = (struct err){ 0 };
	return sim_trace_read(NULL, text, strlen(text), t, err);
}

static void generic(void)
{
	struct sim_trace t;
	struct err err;

	OK(read("gpus,user,submit,duration,id,limit,mem,cpu,share,models,queue,priority,command\n"
		"1,ann,10,1h30m,b,2h,16Gi,0.5,0.25,a100|v100,nlp,7,train\n"
		"\n"
		"16,bob,2.5,60,a,,,,,,,,\r\n",
		&t, &err) == 0,
	   "a generic trace in any order of columns is read");
	IS(t.reader->name, "csv", "by the reader for it");
	IS_INT((int64_t)t.count, 2, "with both jobs");
	const struct sim_job *a = &t.jobs[0], *b = &t.jobs[1];
	IS(a->name, "a", "sorted by time");
	OK(a->submit_ms == 2500 && a->duration_ms == 60000 && a->gpus == 16,
	   "times are seconds, with a part or without");
	OK(!a->limit_ms && !a->models && !a->group && !a->share_milli && !a->priority,
	   "what is empty is not said");
	OK(b->duration_ms == 5400000 && b->limit_ms == 7200000, "or with units");
	OK(b->cpu_milli == 500 && b->memory_bytes == INT64_C(16) << 30 &&
		   b->share_milli == 250 && b->priority == 7,
	   "amounts are read");
	IS(b->models, "a100|v100", "models too");
	IS(b->group, "nlp", "a queue is a group");
	sim_trace_fini(&t);
}

static void philly(void)
{
	struct sim_trace t;
	struct err err;

	OK(read("job_id,submit_s,duration_s,num_gpus,vc\n7,100,50,8,x1\n8,90,1,1,x1\n",
		&t, &err) == 0,
	   "a Philly month is read");
	IS(t.reader->name, "philly", "and known by its header");
	OK(t.count == 2 && t.jobs[0].submit_ms == 90000 && t.jobs[1].gpus == 8,
	   "in order of time");
	OK(t.jobs[0].group == t.jobs[1].group, "equal words are one word");
	sim_trace_fini(&t);
}

static void swf(void)
{
	struct sim_trace t;
	struct err err;

	OK(read("; Computer: a small one\n"
		"; MaxProcs: 8\n"
		"1 0 -1 60 4 -1 -1 4 120 -1 1 3 1 9 0 -1 -1 -1\n"
		"2 5 -1 -1 0 -1 -1 4 120 -1 5 3 1 9 0 -1 -1 -1\n"
		"  3 7 0 200 2 12.75 -1 -1 100 -1 1 -1 -1 -1 0 -1 -1 -1 ; the last\n",
		&t, &err) == 0,
	   "a trace in the standard workload format is read");
	IS(t.reader->name, "swf", "known by its comments");
	OK(t.count == 2 && t.skipped == 1, "jobs that never ran are counted apart");
	OK(t.jobs[0].gpus == 4 && t.jobs[0].limit_ms == 120000, "processors are devices");
	OK(t.jobs[1].gpus == 2 && t.jobs[1].limit_ms == 200000,
	   "who was let run past its limit had that limit");
	IS(t.jobs[0].user, "u3", "users are numbers there");
	OK(!t.jobs[1].user, "or not known");
	sim_trace_fini(&t);
	OK(read("1 0 -1 60 4 -1 -1 4 120 -1 1 3 1 9 0 -1 -1 -1\n", &t, &err) == 0 &&
		   str_eq(t.reader->name, "swf"),
	   "it needs no comment");
	sim_trace_fini(&t);
}

static void refused(void)
{
	static const struct {
		const char *text, *place;
	} bad[] = {
		{ "", "the file is empty" },
		{ "a,b,c\n1,2,3\n", "line 1" },
		{ "id,submit,duration,gpus\na,1,2,x\n", "line 2, column gpus" },
		{ "id,submit,duration,gpus\na,1,2,3\nb,,2,3\n", "line 3, column submit" },
		{ "id,submit,duration,gpus\na,1,soon,3\n", "line 2, column duration" },
		{ "id,submit,duration,gpus\na,1,2\n", "line 2" },
		{ "id,submit,duration,gpus,share\na,1,2,2,0.5\n",
		  "line 2, column share" },
		{ "id,submit,duration,gpus,share\na,1,2,1,half\n",
		  "line 2, column share" },
		{ "id,submit,duration,gpus,mem\na,1,2,1,lots\n", "line 2, column mem" },
		{ "id,submit,duration,gpus\na,1,2,\"3\n", "line 2" },
		{ "id,submit,duration,gpus\na,-1,2,3\n", "line 2, column submit" },
		{ "job_id,submit_s,duration_s,num_gpus,vc\n7,100,50,0,x\n",
		  "line 2, column num_gpus" },
		{ "; x\n1 0 -1 60 4\n", "line 2, column 12" },
		{ "; x\n1 0 -1 60 4 -1 -1 4 120 -1 1 3 1 9 0 -1 -1 nine\n",
		  "line 2, column 44" },
		{ "; x\n1 0 -1 60 4 -1 -1 4 120 -1 1 3 1 9 0 -1 -1 -1 7\n", "line 2" },
		{ "; x\n1 -1 -1 60 4 -1 -1 4 120 -1 1 3 1 9 0 -1 -1 -1\n",
		  "line 2, column 3" },
	};

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct sim_trace t = { 0 };
		struct err err;
		int got = read(bad[i].text, &t, &err);
		if (!OK(got < 0 && strstr(err.text, bad[i].place),
			"what is wrong is told: %s", bad[i].place))
			printf("# %s\n", got < 0 ? err.text : "it was taken");
	}
	struct sim_trace t;
	struct err err;
	OK(sim_trace_read("cvs", "x", 1, &t, &err) < 0 && strstr(err.text, "cvs"),
	   "a reader that there is not is refused by name");
}

static int cluster(const char *text, struct sim_cluster *c, struct err *err)
{
	*err = (struct err){ 0 };
	return sim_cluster_read(text, strlen(text), c, err);
}

static void clusters(void)
{
	struct sim_cluster c;
	struct err err;

	OK(sim_cluster_short("12x8:a100+2x4", &c, &err) == 0 && c.count == 14,
	   "a cluster in short has its nodes");
	IS(c.nodes[0].name, "n01", "names sort as numbers");
	IS(c.nodes[13].name, "n14", "and go on");
	IS_INT(resources_device(&c.nodes[0].capacity, "gpu:a100"), 8, "with a model");
	IS_INT(resources_device(&c.nodes[13].capacity, "gpu"), 4, "or without");
	OK(c.nodes[0].up && c.nodes[0].capacity.cpu_milli > 0, "and can be used");
	sim_cluster_fini(&c);
	OK(cluster("nodes:\n"
		   "- { count: 3, gpu: 8, cpu: 96, memory: 1Ti, model: h100, rack: r1, switch: s1 }\n"
		   "- { name: big, gpu: 16 }\n"
		   "- { cpu: 8 }\n",
		   &c, &err) == 0 &&
		   c.count == 5,
	   "one in YAML too");
	IS(c.nodes[3].name, "big", "a single one keeps its name");
	OK(str_eq(c.nodes[2].rack, "r1") && str_eq(c.nodes[2].net, "s1") &&
		   c.nodes[2].capacity.cpu_milli == 96000,
	   "with its place and its cores");
	OK(!c.nodes[4].capacity.devices[0].count, "nodes need no devices");
	sim_cluster_fini(&c);
	OK(cluster("sn,cpu_milli,memory_mib,gpu,model\na,64000,1024,2,P100\nb,1000,512,0,\n",
		   &c, &err) == 0 &&
		   c.count == 2,
	   "and a table of nodes");
	IS_INT(c.nodes[0].capacity.memory_bytes, INT64_C(1) << 30, "in mebibytes");
	sim_cluster_fini(&c);
}

static void bad_clusters(void)
{
	static const char *const shorts[] = {
		"80", "x8", "80x", "0x8", "8x65", "8x8:", "8x8+", "8x8:a b", "9999999x8"
	};
	static const struct {
		const char *text, *place;
	} bad[] = {
		{ "nodes: 7\n", "line 1" },
		{ "node:\n- {gpu: 8}\n", "line 1" },
		{ "- {gpu: many}\n", "column 9" },
		{ "- {gpus: 8}\n", "did you mean 'gpu'" },
		{ "- {count: 0, gpu: 8}\n", "line 1" },
		{ "- {memory: much}\n", "size" },
		{ "[]", "no nodes" },
		{ "sn,cpu_milli,memory_mib,gpu,model\na,64000,1024,99,P100\n",
		  "line 2, column gpu" },
		{ "sn,cpu_milli,memory_mib,gpu,model\n,1,1,1,P100\n",
		  "line 2, column sn" },
	};
	struct sim_cluster c;
	struct err err;

	for (size_t i = 0; i < COUNT_OF(shorts); i++)
		OK(sim_cluster_short(shorts[i], &c, &err) < 0 && err.text[0],
		   "'%s' is no cluster", shorts[i]);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (!OK(cluster(bad[i].text, &c, &err) < 0 &&
				strstr(err.text, bad[i].place),
			"what is wrong with it is told: %s", bad[i].place))
			printf("# %s\n", err.text);
}

int main(void)
{
	generic();
	philly();
	swf();
	refused();
	clusters();
	bad_clusters();
	return END();
}
