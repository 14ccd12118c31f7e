// SPDX-License-Identifier: Apache-2.0
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "dialect/dialect.h"

static const struct dialect *native;

static struct spec *read_text(const char *text, struct problems *out)
{
	/* Exactly sized, so that reading past the end is seen. */
	char *exact = mem_dup(text, strlen(text));
	struct spec *s = native->read(exact, strlen(text), out);

	free(exact);
	return s;
}

/* The spec of a text that must be right, as canonical JSON. */
static const char *json_of(const char *text)
{
	static struct buf out;
	AUTO_PROBLEMS struct problems p = { 0 };
	AUTO_SPEC struct spec *s = read_text(text, &p);

	buf_fini(&out);
	for (size_t i = 0; i < p.count; i++)
		buf_printf(&out, "%d:%d %s: %s\n", p.items[i].line, p.items[i].column,
			   p.items[i].field, p.items[i].text);
	if (s)
		spec_to_json(s, &out);
	return buf_str(&out);
}

#define REST                                                                             \
	"\"retry\":{\"max\":0,\"backoff\":\"10s\",\"backoff-max\":\"10m\"},\"grace\":\"30s\",\"grace-max\":\"5m\"}"
#define DONE "\"completion\":{\"fail-after\":1,\"succeed-after\":\"all\"}}],"

static void short_form(void)
{
	IS(json_of("command: python train.py\n"),
	   "{\"name\":\"python\",\"priority\":0,\"preemptible\":false,\"roles\":[{\"name\":\"main\",\"count\":1,"
	   "\"command\":\"python train.py\",\"image\":\"host\",\"resources\":{\"cpu\":1,\"memory\":\"1Gi\",\"shm\":"
	   "\"512Mi\"}," DONE REST,
	   "one line is a job; every default is filled in");
	IS(json_of("name: a\ncommand: [sleep, 5]\ncount: 3\nresources: {cpu: 500m, memory: 1.5Gi, shm: 64Mi, devices: "
		   "{gpu: 2}}\nenv: {A: 1, B: true, C: x y, D: }\n"),
	   "{\"name\":\"a\",\"priority\":0,\"preemptible\":false,\"roles\":[{\"name\":\"main\",\"count\":3,"
	   "\"command\":[\"sleep\",\"5\"],\"image\":\"host\",\"resources\":{\"cpu\":0.5,\"memory\":\"1536Mi\","
	   "\"shm\":\"64Mi\",\"devices\":{\"gpu\":2}},\"env\":{\"A\":\"1\",\"B\":\"true\",\"C\":\"x y\",\"D\":\"\"}," DONE
		   REST,
	   "the short form takes every field of a role");
}

static const char whole[] =
	"name: train\n"
	"group: vision\n"
	"priority: -5\n"
	"preemptible: true\n"
	"labels: {team: a/b, run: 7}\n"
	"roles:\n"
	"  server:\n"
	"    command: ./ps\n"
	"    ports: {rpc: any, http: 8080, data: {count: 3}}\n"
	"  worker:\n"
	"    count: 4\n"
	"    command: [./w, --x]\n"
	"    image: host\n"
	"    resources: {cpu: 2, memory: 2G, shm: 1M, devices: {gpu: 1, 'npu:910': 2}}\n"
	"    env: {K: v}\n"
	"    completion: {fail-after: 2, succeed-after: 3}\n"
	"retry: {max: forever, backoff: 1s, backoff-max: 1h30m}\n"
	"time-limit: 1.5h\n"
	"grace: 0\n"
	"inputs: {data: /data/set, more: file:///x}\n"
	"outputs: [model]\n"
	"hyperparameters: {lr: 1e-4, opt: adam, layers: [1, 2], deep: {a: null, b: false}}\n"
	"services: {ps: {role: server, port: rpc}}\n"
	"after: 12\n"
	"after-ok: [13, 14]\n"
	"code: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n";

static const char whole_json[] =
	"{\"name\":\"train\",\"group\":\"vision\",\"priority\":-5,\"preemptible\":true,\"labels\":{\"team\":\"a/b\","
	"\"run\":\"7\"},\"roles\":[{\"name\":\"server\",\"count\":1,\"command\":\"./ps\",\"image\":\"host\","
	"\"resources\":{\"cpu\":1,\"memory\":\"1Gi\",\"shm\":\"512Mi\"},\"ports\":{\"rpc\":{\"count\":1},\"data\":"
	"{\"count\":3},\"http\":{\"count\":1,\"port\":8080}},\"completion\":{\"fail-after\":1,\"succeed-after\":"
	"\"all\"}},{\"name\":\"worker\",\"count\":4,\"command\":[\"./w\",\"--x\"],\"image\":\"host\",\"resources\":"
	"{\"cpu\":2,\"memory\":\"1953125Ki\",\"shm\":\"1000000\",\"devices\":{\"gpu\":1,\"npu:910\":2}},\"env\":"
	"{\"K\":\"v\"},\"completion\":{\"fail-after\":2,\"succeed-after\":3}}],\"retry\":{\"max\":\"forever\","
	"\"backoff\":\"1s\",\"backoff-max\":\"90m\"},\"time-limit\":\"90m\",\"grace\":\"0s\",\"grace-max\":\"5m\",\"inputs\":{\"data\":"
	"\"/data/set\",\"more\":\"file:///x\"},\"outputs\":{\"model\":null},\"hyperparameters\":{\"lr\":1e-4,"
	"\"opt\":\"adam\",\"layers\":[1,2],\"deep\":{\"a\":null,\"b\":false}},\"services\":{\"ps\":{\"role\":"
	"\"server\",\"port\":\"rpc\"}},\"after\":[12],\"after-ok\":[13,14],\"code\":"
	"\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"}";

static const char placed[] = "name: p\n"
			     "within: rack\n"
			     "within-must: true\n"
			     "roles:\n"
			     "- name: a\n"
			     "  count: 4\n"
			     "  min: 2\n"
			     "  command: x\n"
			     "  where: {zone: a, disk: nvme}\n"
			     "  resources: {devices: {gpu: 0.5}}\n"
			     "- name: b\n"
			     "  count: 2\n"
			     "  min: 2\n"
			     "  command: x\n"
			     "  resources: {devices: {'gpu:a100|v100': 2.0}}\n";

static const char placed_json[] =
	"{\"name\":\"p\",\"priority\":0,\"preemptible\":false,\"within\":\"rack\",\"within-must\":true,"
	"\"roles\":[{\"name\":\"a\",\"count\":4,\"min\":2,\"command\":\"x\",\"image\":\"host\",\"resources\":"
	"{\"cpu\":1,\"memory\":\"1Gi\",\"shm\":\"512Mi\",\"devices\":{\"gpu\":0.5}},\"where\":{\"zone\":\"a\","
	"\"disk\":\"nvme\"},\"completion\":{\"fail-after\":1,\"succeed-after\":\"all\"}},{\"name\":\"b\",\"count\":2,"
	"\"command\":\"x\",\"image\":\"host\",\"resources\":{\"cpu\":1,\"memory\":\"1Gi\",\"shm\":\"512Mi\","
	"\"devices\":{\"gpu:a100|v100\":2}}," DONE REST;

static void placement(void)
{
	AUTO_BUF struct buf again = { 0 };
	AUTO_DOC struct doc *doc = doc_parse_json(placed_json, strlen(placed_json), NULL);
	AUTO_SPEC struct spec *s = doc ? spec_from_json(doc_root(doc), NULL) : NULL;

	IS(json_of(placed), placed_json,
	   "shares, models, labels, nearness, a least number; min that is count is left out");
	IS(json_of(placed_json), placed_json, "as JSON it means the same");
	if (s)
		spec_to_json(s, &again);
	IS(buf_str(&again), placed_json, "and is stored without loss");
}

static void whole_form(void)
{
	AUTO_BUF struct buf again = { 0 };
	AUTO_DOC struct doc *doc = doc_parse_json(whole_json, strlen(whole_json), NULL);
	AUTO_SPEC struct spec *s = doc ? spec_from_json(doc_root(doc), NULL) : NULL;

	IS(json_of(whole), whole_json, "every field is read, ports of any number first");
	IS(json_of(whole_json), whole_json,
	   "the canonical JSON is a job file that means the same");
	if (s)
		spec_to_json(s, &again);
	IS(buf_str(&again), whole_json, "and spec_from_json reads it without loss");
}

/* Lines of a wrong text's problems: "line:column field". */
static void wrong(const char *text, const char *want, const char *words)
{
	AUTO_PROBLEMS struct problems p = { 0 };
	AUTO_SPEC struct spec *s = read_text(text, &p);
	AUTO_BUF struct buf got = { 0 };
	bool said = false;

	for (size_t i = 0; i < p.count; i++) {
		buf_printf(&got, "%s%d:%d %s", i ? ", " : "", p.items[i].line,
			   p.items[i].column, p.items[i].field);
		said = said || strstr(p.items[i].text, words);
	}
	IS(s ? "(no problem)" : buf_str(&got), want, "place of: %s", words);
	if (!OK(said, "says: %s", words))
		for (size_t i = 0; i < p.count; i++)
			printf("# %s\n", p.items[i].text);
}

static void unknown_fields(void)
{
	wrong("comand: x\ncommand: y\n", "1:1 comand",
	      "there is no such field; did you mean \"command\"?");
	wrong("command: x\nresources: {gpu: 1}\n", "2:13 resources.gpu",
	      "did you mean \"resources: {devices: {gpu: N}}\"?");
	wrong("command: x\nmemory: 1Gi\n", "2:1 memory",
	      "did you mean \"resources: {memory: SIZE}\"?");
	wrong("command: x\ntimeout: 5\n", "2:1 timeout", "did you mean \"time-limit\"?");
	wrong("command: x\nqqqqqqqq: 5\n", "2:1 qqqqqqqq",
	      "allowed are name, group, priority");
	wrong("roles:\n- {name: a, command: x, replicas: 2}\n", "2:25 roles[0].replicas",
	      "did you mean \"count\"?");
	wrong("command: x\nretry: {maximum: 3}\n", "2:9 retry.maximum",
	      "allowed are max, backoff, backoff-max, time-limit");
}

static void wrong_values(void)
{
	wrong("command: x\npriority: high\n", "2:11 priority",
	      "\"high\" is not allowed; allowed is a whole number from -1000 to 1000");
	wrong("command: x\npriority: 1001\n", "2:11 priority",
	      "allowed is a whole number from -1000 to 1000");
	wrong("command: x\npreemptible: yes\n", "2:14 preemptible",
	      "allowed is true or false");
	wrong("command: x\nresources: {memory: lots}\n", "2:21 resources.memory",
	      "allowed is a size such as 512Mi or 1.5G");
	wrong("command: x\nresources: {cpu: 0}\n", "2:18 resources.cpu",
	      "must be more than 0");
	wrong("command: x\nresources: {memory: 1Ki}\n", "2:21 resources.memory",
	      "allowed is 1Mi to 1Pi");
	wrong("command: x\nresources: {memory: 1Mi, shm: 2Mi}\n", "2:31 resources.shm",
	      "at most resources.memory (1Mi) is allowed");
	wrong("command: x\nresources: {devices: {gpu: 65}}\n",
	      "2:28 resources.devices.gpu", "from 0 to 64");
	wrong("command: x\nresources: {devices: {gpu: 1.5}}\n",
	      "2:28 resources.devices.gpu",
	      "a whole number from 0 to 64, or a share of one device such as 0.5");
	wrong("command: x\nresources: {devices: {gpu: 0.3333}}\n",
	      "2:28 resources.devices.gpu", "in thousandths");
	wrong("command: x\nwithin: galaxy\n", "2:9 within",
	      "allowed is rack, switch, node or island");
	wrong("command: x\ncount: 2\nmin: 3\n", "3:6 min", "1 to the role's count");
	wrong("command: x\nwhere: {zone: a b}\n", "2:15 where.zone", "a node's label");
	wrong("command: x\ntime-limit: 30m1h\n", "2:13 time-limit",
	      "allowed is a time such as 90s, 1.5h or 1h30m");
	wrong("command: {a: b}\n", "1:10 command",
	      "is a map; allowed is a shell line, or a list");
	wrong("command: []\n", "1:10 command",
	      "is a list; allowed is a shell line, or a list");
	wrong("command: [a, [b]]\n", "1:14 command[1]", "is a list; allowed is a text");
	wrong("command: \"a\\0b\"\n", "1:10 command", "NUL");
	wrong("command: '  '\n", "1:10 command", "a command is missing");
	wrong("command: x\nenv: [A=b]\n", "2:6 env",
	      "is a list; allowed is a map of names to texts");
	wrong("command: x\nenv: {YARD_RANK: 1}\n", "2:18 env.YARD_RANK",
	      "set by the yard itself");
	wrong("command: x\nenv: {'A=B': 1}\n", "2:14 env.A=B", "without '='");
	wrong("command: x\nimage: \"a b\"\n", "2:8 image",
	      "1 to 512 characters without spaces are wanted");
	wrong("command: x\nports: {a: 80}\n", "2:12 ports.a",
	      "a port number from 1024 to 65535");
	wrong("command: x\nports: {a: {count: 33}}\n", "2:20 ports.a.count",
	      "from 1 to 32");
	wrong("command: x\nports: {a: {count: 20}, b: {count: 20}}\n", "2:8 ports",
	      "40 ports together; at most 32");
	wrong("command: x\nports: [a-b, a_b]\n", "2:14 ports.a_b", "too much alike");
	wrong("command: x\ninputs: {d: data}\n", "2:13 inputs.d",
	      "allowed is an absolute path");
	wrong("command: x\ninputs: {d: /a/../b}\n", "2:13 inputs.d", "without \"..\"");
	wrong("command: x\noutputs: {../d: /x}\n", "2:17 outputs.../d", "is not a name");
	wrong("command: x\nafter: train\n", "2:8 after",
	      "allowed is the number of a job, or a list of them");
	wrong("command: x\nafter: [3]\nafter-ok: [3]\n", "3:11 after-ok",
	      "job 3 is named twice");
	wrong("command: x\nname: 12\n", "2:7 name", "looks like the number of a job");
	wrong("command: x\nname: a b\n", "2:7 name", "\"a b\" is not a name");
	wrong("command: x\ncode: abc\n", "2:7 code", "64 digits");
	wrong("command: x\nretry: -1\n", "2:8 retry", "from 0 to 1000, or forever");
	wrong("command: x\nretry: {backoff: 1h, backoff-max: 1m}\n",
	      "2:35 retry.backoff-max", "smaller than backoff");
	wrong("command: x\ngrace: 2d\n", "2:8 grace", "at most 1d is allowed");
}

static void wrong_roles(void)
{
	wrong("name: x\n", "1:1 command", "a command is missing");
	wrong("roles: []\n", "1:8 roles",
	      "is empty; allowed is a list of roles, or a map of names to roles");
	wrong("roles: 5\n", "1:8 roles", "is a number; allowed is a list of roles");
	wrong("roles: {a: 5}\n", "1:12 roles.a", "allowed is a map of a role's fields");
	wrong("command: x\nroles: {a: {command: y}}\n", "1:1 command",
	      "belongs into a role");
	wrong("roles:\n- {name: a, command: x}\n- {name: a, command: y}\n",
	      "3:10 roles[1].name", "there already");
	wrong("roles:\n  a: {name: b, command: x}\n", "2:6 roles.a",
	      "is named \"a\" and \"b\"; leave one out");
	wrong("roles:\n  a: {command: x, count: 4096}\n  b: {command: x}\n", "2:3 roles",
	      "4097 tasks together");
	wrong("roles:\n  a: {command: x}\n  b: {resources: {cpu: x}}\n",
	      "3:24 roles.b.resources.cpu, 3:6 roles.b.command", "a command is missing");
	wrong("command: x\ncount: 2\ncompletion: {fail-after: 3}\n",
	      "3:26 completion.fail-after", "1 to the role's count, or all");
	wrong("command: x\nservices: {s: {port: p}}\n", "2:15 services.s",
	      "the role \"main\" has no port \"p\"");
	wrong("command: x\nservices: {s: {role: q, port: p}}\n", "2:15 services.s",
	      "there is no role \"q\"");
	wrong("command: x\nservices: {s: {}}\n", "2:15 services.s",
	      "\"port\" is missing");
}

static void all_at_once(void)
{
	wrong("name: a b\npriority: x\ncomand: y\nresources:\n  cpu: many\n  memory: 1\nenv:\n  YARD_X: 1\n",
	      "2:11 priority, 3:1 comand, 5:8 resources.cpu, 1:1 command, 6:11 resources.memory, 8:11 env.YARD_X, 1:7 "
	      "name",
	      "did you mean \"command\"?");
	wrong("{\n  \"command\": \"x\",\n  \"priority\" 1\n}", "3:14 ",
	      "'1' where ':' should be");
	wrong("a: [1\n", "2:1 ", "did not find");
	wrong("- a\n", "1:1 ", "a job file is a map of fields, this is a list");
	wrong("", "1:1 ", "a job file is a map of fields, this is nothing");
}

static void large(void)
{
	AUTO_BUF struct buf b = { 0 };

	buf_adds(&b, "command: x\nenv:\n");
	for (int i = 0; i < 2049; i++)
		buf_printf(&b, "  K%d: v\n", i);
	wrong(buf_str(&b), "3:3 env", "2049 entries; at most 2048 are allowed");
	buf_clear(&b);
	buf_adds(&b, "command: x\nenv:\n");
	for (int i = 0; i < 30; i++)
		buf_printf(&b, "  K%d: %010000d\n", i, i);
	wrong(buf_str(&b), "1:1 ", "at most 262144 are allowed");
	buf_clear(&b);
	buf_reserve(&b, 600 << 10);
	for (int i = 0; i < 600 << 10; i++)
		buf_addc(&b, ' ');
	wrong(buf_str(&b), "0:0 ", "a job file of 614400 bytes; at most 524288 are read");
	buf_clear(&b);
	for (int i = 0; i < 500; i++)
		buf_printf(&b, "x%d: 1\n", i);
	AUTO_PROBLEMS struct problems p = { 0 };
	struct err err;
	OK(!read_text(buf_str(&b), &p) && p.count == PROBLEMS_MAX && p.dropped >= 400,
	   "problems beyond the bound are counted only");
	OK(problems_err(&p, &err) < 0 && strstr(err.text, "(and 50") &&
		   strstr(err.text, "line 1, column 1: x0: "),
	   "one sentence tells the first and how many more: %s", err.text);
}

static void forms(void)
{
	OK(strstr(json_of("command: x\nretry: 3\n"), "\"retry\":{\"max\":3,"),
	   "retry may be just a number");
	OK(strstr(json_of("command: x\nretry: forever\n"), "\"max\":\"forever\""),
	   "or forever");
	OK(strstr(json_of("command: x\nretry: {max: 1, backoff: 1h}\n"),
		  "\"backoff\":\"1h\",\"backoff-max\":\"1h\""),
	   "a long pause lifts the longest one, when that is not given");
	OK(strstr(json_of("command: x\nretry: {max: 1, backoff-max: 1s}\n"),
		  "\"backoff\":\"1s\",\"backoff-max\":\"1s\""),
	   "and the other way round");
	OK(strstr(json_of("command: x\nports: [a, b]\n"),
		  "\"ports\":{\"a\":{\"count\":1},\"b\":{\"count\":1}}"),
	   "ports may be just names");
	OK(strstr(json_of("command: x\nports: [p]\nservices: {s: {port: p}}\n"),
		  "{\"role\":\"main\",\"port\":\"p\"}"),
	   "a service of the only role need not name it");
	OK(strstr(json_of("command: /usr/bin/env python3 x\n"), "{\"name\":\"env\","),
	   "a name is taken from the command");
	OK(strstr(json_of("command: '(cd x; y)'\n"), "{\"name\":\"job\","), "or is job");
	OK(strstr(json_of("command: x\nhyperparameters: {a: \"q\\\"\\n\"}\n"),
		  "{\"a\":\"q\\\"\\n\"}"),
	   "hyperparameters keep their kind and their bytes");
	OK(strstr(json_of("command: x\ntime-limit: 90\n"), "\"time-limit\":\"90s\""),
	   "a bare number is seconds");
}

static void secrets(void)
{
	const char *text = "command: x\nsecrets:\n- {name: hf-token, env: HF_TOKEN}\n"
			   "- {name: netrc, file: /root/.netrc}\n"
			   "- {name: k, file: /run/k, mode: 0440, from: group/vision}\n";

	OK(strstr(json_of(text),
		  "\"secrets\":[{\"name\":\"hf-token\",\"env\":\"HF_TOKEN\"},"
		  "{\"name\":\"netrc\",\"file\":\"/root/.netrc\",\"mode\":\"0600\"},"
		  "{\"name\":\"k\",\"file\":\"/run/k\",\"mode\":\"0440\",\"from\":\"group/vision\"}]"),
	   "secrets are variables and files");
	AUTO_FREE char *once = mem_strdup(json_of(text));
	AUTO_DOC struct doc *d = doc_parse_json(once, strlen(once), NULL);
	AUTO_SPEC struct spec *s = spec_from_json(doc_root(d), NULL);
	AUTO_BUF struct buf again = { 0 };
	spec_to_json(s, &again);
	IS(buf_str(&again), once, "they come back out of their JSON");
	IS(json_of(once), once, "which is a job file itself");

#define WITH(entry) "command: x\nenv: {A: b}\nsecrets: [" entry "]\n"
	wrong(WITH("{name: a}"), "3:11 secrets[0]", "either env: VARIABLE or file: PATH");
	wrong(WITH("{name: a, env: B, file: /f}"), "3:11 secrets[0]", "either env");
	wrong(WITH("{env: B}"), "3:11 secrets[0].name", "is not a secret's name");
	wrong(WITH("{name: A/b, env: B}"), "3:18 secrets[0].name", "a-z, 0-9");
	wrong(WITH("{name: a, env: A}"), "3:26 secrets[0].env", "in the env of the role");
	wrong(WITH("{name: a, env: YARD_X}"), "3:26 secrets[0].env", "set by the yard");
	wrong(WITH("{name: a, env: B}, {name: b, env: B}"), "3:45 secrets[1].env",
	      "set twice");
	wrong(WITH("{name: a, file: /a/../b}"), "3:27 secrets[0].file", "absolute path");
	wrong(WITH("{name: a, file: /ml/output/x}"), "3:27 secrets[0].file",
	      "cannot be placed below /ml/output");
	wrong(WITH("{name: a, file: /f}, {name: b, file: /f/g}"), "3:48 secrets[1].file",
	      "cannot both be files");
	wrong(WITH("{name: a, file: /f, mode: 8}"), "3:37 secrets[0].mode", "octal");
	wrong(WITH("{name: a, file: /f, mode: 04755}"), "3:37 secrets[0].mode", "octal");
	wrong(WITH("{name: a, env: B, mode: 0600}"), "3:11 secrets[0]", "for a file");
	wrong(WITH("{name: a, env: B, from: vision}"), "3:35 secrets[0].from",
	      "group/NAME or user/NAME");
	wrong(WITH("{name: a, env: B, value: hunter2}"), "3:29 secrets[0].value",
	      "there is no such field");
	wrong(WITH("hf-token"), "3:11 secrets[0]", "{name: NAME, env: VARIABLE}");
#undef WITH
}

#define WITH(fields) "command: x\n" fields "\n"

static void data_in_and_out(void)
{
	OK(strstr(json_of(WITH(
			  "inputs: {a: /x, b: 'file:///x', c: 'pfs:/pfs/local/public', d: 'yard:x', e: 'nas://n/x', "
			  "f: 'oss://b/k', g: 's3://b/k/', h: 'hdfs://h/x', i: 'webhdfs://h/x', j: 'https://h/x'}")),
		  "\"g\":\"s3://b/k/\""),
	   "inputs by every provider");
	OK(strstr(json_of(WITH(
			  "outputs: {a: 'pfs:/pfs/local/home/u/a', b: 'oss://b/k'}")),
		  "\"outputs\":{\"a\":\"pfs:/pfs/local/home/u/a\",\"b\":\"oss://b/k\"}"),
	   "outputs too");
	OK(strstr(json_of(WITH("code: 'oss://b/src.tar.gz'")),
		  "\"code\":\"oss://b/src.tar.gz\""),
	   "and code");
	wrong(WITH("inputs: {d: ftp://h/x}"), "2:13 inputs.d", "there is no \"ftp:\"");
	wrong(WITH("inputs: {d: 's3:b/k'}"), "2:13 inputs.d", "write s3://BUCKET/KEY");
	wrong(WITH("inputs: {d: 's3:///k'}"), "2:13 inputs.d", "write s3://BUCKET/KEY");
	wrong(WITH("inputs: {d: 'file:x'}"), "2:13 inputs.d", "write file:///FOLDER");
	wrong(WITH("inputs: {d: 'pfs:'}"), "2:13 inputs.d", "write pfs:PATH");
	wrong(WITH("inputs: {d: 'pfs:../x'}"), "2:13 inputs.d", "without \"..\"");
	wrong(WITH("inputs: {d: 'oss://b/../x'}"), "2:13 inputs.d", "without \"..\"");
	wrong(WITH("inputs: {d: 'odps://p/tables/t'}"), "2:13 inputs.d", "MaxCompute");
	wrong(WITH("outputs: {d: 'http://h/x'}"), "2:14 outputs.d",
	      "cannot be written to");
	wrong(WITH("code: train"), "2:7 code", "neither the hash");
	wrong(WITH("code: ../train"), "2:7 code", "neither the hash");
}

static void packages(void)
{
	OK(strstr(json_of(WITH("requirements: true")), "\"requirements\":true"),
	   "the code's own requirements");
	OK(!strstr(json_of(WITH("requirements: false")), "requirements"),
	   "which is said only where it is not so anyway");
	OK(strstr(json_of(WITH("requirements: [numpy>=1.26, 'torch==2.*']")),
		  "\"requirements\":[\"numpy>=1.26\",\"torch==2.*\"]"),
	   "a list");
	wrong(WITH("requirements: numpy"), "2:15 requirements", "true, false, or a list");
	wrong(WITH("requirements: [\"a\\nb\"]"), "2:15 requirements",
	      "entry 1 is not a requirement");
	wrong(WITH("requirements: [[a]]"), "2:16 requirements[0]", "a requirement such");
	wrong(WITH("pip: [numpy]"), "2:1 pip", "did you mean \"requirements\"?");
}

static void metrics(void)
{
	static const char want[] =
		"\"metrics\":[{\"name\":\"train/loss\",\"pattern\":\"loss=([0-9.]+)\"}]";

	OK(strstr(json_of(WITH("metrics: {train/loss: 'loss=([0-9.]+)'}")), want),
	   "metrics by name");
	OK(strstr(json_of(WITH(
			  "metrics: [{name: train/loss, pattern: 'loss=([0-9.]+)'}]")),
		  want),
	   "or as a list");
	OK(*json_of(WITH("metrics: {a: '\\(x[](]:(?:y)(?P<v>[0-9]+(?=z))'}")) == '{',
	   "only what captures is a group");
	wrong(WITH("metrics: {a: 'loss=[0-9]+'}"), "2:10 metrics[0].pattern",
	      "has 0 groups");
	wrong(WITH("metrics: {a: '(x)(y)'}"), "2:10 metrics[0].pattern", "has 2 groups");
	wrong(WITH("metrics: [{name: a}]"), "2:11 metrics[0].pattern", "is needed");
	wrong(WITH("metrics: [{pattern: '(a)'}]"), "2:11 metrics[0].name", "is needed");
	wrong(WITH("metrics: [{name: a, regex: '(a)'}]"),
	      "2:21 metrics[0].regex, 2:11 metrics[0].pattern", "no such field");
}

static void contracts(void)
{
	const char *name = "contract: estimator\ninputs: {'Dir x': /d, \"\\u6570\": /e, "
			   "a-b: /f, a.b: /g}";
	AUTO_FREE char *text = str_printf(WITH("%s"), name);

	OK(strstr(json_of(WITH("contract: estimator")),
		  "\"contract\":\"estimator\",\"requirements\":true,\"outputs\":"
		  "{\"model\":null,\"checkpoints\":null,\"logs\":null}"),
	   "an estimator's job has three outputs and installs its requirements");
	OK(strstr(json_of(WITH("contract: estimator\nrequirements: false\n"
			       "outputs: {tensorboard: /tb, x: /x}")),
		  "\"requirements\":false,\"outputs\":{\"logs\":\"/tb\",\"x\":\"/x\","
		  "\"model\":null,\"checkpoints\":null}"),
	   "tensorboard is another name of logs");
	OK(strstr(json_of(text), "\"Dir x\":\"/d\",\"\xe6\x95\xb0\":\"/e\""),
	   "its channels have any name, also such that become one variable");
	wrong(WITH("contract: estimator\noutputs: [tensorboard, logs]"),
	      "3:11 outputs.tensorboard", "the same folder");
	wrong(WITH("contract: estimator\ninputs: {a/b: /x, ..: /y}"),
	      "3:15 inputs.a/b, 3:23 inputs...", "not the name of a folder");
	wrong(WITH("contract: pai"), "2:11 contract", "native or estimator");
	OK(strstr(json_of(WITH("grace: 10m")), "\"grace\":\"10m\",\"grace-max\":\"10m\""),
	   "the longest grace is no shorter than the grace");
	wrong(WITH("grace: 10m\ngrace-max: 5m"), "3:12 grace-max", "smaller than grace");
	wrong(WITH("per-device: true"), "2:13 per-device",
	      "nothing without resources.devices");
	wrong(WITH("per-device: true\nresources: {devices: {gpu: 1, npu: 1}}"),
	      "2:13 per-device", "more than one kind");
	OK(strstr(json_of(WITH("per-device: true\nresources: {devices: {gpu: 2}}")),
		  "\"per-device\":true"),
	   "one process a device");
}

/* Specs are stored as they were written, and read for ever. */
static void stored_before(void)
{
	static const char old[] =
		"{\"name\":\"n\",\"priority\":0,\"preemptible\":false,\"roles\":[{\"name\":\"main\",\"count\":1,"
		"\"command\":\"x\",\"image\":\"host\",\"resources\":{\"cpu\":1,\"memory\":\"1Gi\",\"shm\":\"512Mi\"},"
		"\"completion\":{\"fail-after\":1,\"succeed-after\":\"all\"}}],\"retry\":{\"max\":0,\"backoff\":"
		"\"10s\",\"backoff-max\":\"10m\"},\"grace\":\"10m\",\"inputs\":{\"d\":\"/x\"}}";
	AUTO_DOC struct doc *d = doc_parse_json(old, strlen(old), NULL);
	AUTO_SPEC struct spec *s = spec_from_json(doc_root(d), NULL);

	OK(s && s->contract == SPEC_NATIVE && !s->roles[0].per_device &&
		   s->requirements.which == REQUIREMENTS_NONE && !s->metric_count &&
		   s->grace_max_ms == s->grace_ms,
	   "a spec of an older yard is read, and asks for nothing new");
}
#undef WITH

static void table(void)
{
	struct err err = { 0 };

	OK(dialect_find("native", NULL) == dialects[0], "a dialect is found by name");
	OK(!dialect_find("nativ", &err) && strstr(err.text, "did you mean \"native\"?"),
	   "or guessed: %s", err.text);
}

int main(void)
{
	native = dialect_find(DIALECT_NATIVE, NULL);
	short_form();
	whole_form();
	placement();
	unknown_fields();
	wrong_values();
	wrong_roles();
	all_at_once();
	large();
	forms();
	secrets();
	data_in_and_out();
	packages();
	metrics();
	contracts();
	stored_before();
	table();
	return END();
}
