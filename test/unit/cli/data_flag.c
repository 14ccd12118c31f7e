// SPDX-License-Identifier: Apache-2.0
/* The flags for data, packages and metrics become fields of a job file. */
#include "cli/data_flag.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

static struct err err;

static const char *written(const struct data_flags *f)
{
	static char line[1024];
	AUTO_BUF struct buf out = { 0 };
	struct json j;

	json_init(&j, &out);
	json_object(&j, NULL);
	if (data_flags_write(&j, f, &err) < 0)
		return NULL;
	json_end(&j);
	snprintf(line, sizeof line, "%s", buf_str(&out));
	return line;
}

#define LIST(...)                                                                        \
	((struct opts_list){ (const char *[]){ __VA_ARGS__ },                            \
			     COUNT_OF(((const char *[]){ __VA_ARGS__ })), 0 })

static void fields(void)
{
	struct data_flags f = {
		.inputs = LIST("a=/x", "b=oss://b/k", "c=pfs:y", "d=/tmp/../tmp"),
		.outputs = LIST("m", "n=yard:out"),
		.params = LIST("lr=0.1", "on=true", "s=a b", "n=007", "l=[1, 2]",
			       "e=", "q=\"0.1\"", "eq=a=b"),
		.metrics = LIST("loss=loss=([0-9.]+)"),
		.contract = "estimator",
		.grace_max = 90000,
	};

	IS(written(&(struct data_flags){ 0 }), "{}", "nothing");
	IS(written(&f),
	   "{\"contract\":\"estimator\",\"grace-max\":\"90s\",\"outputs\":{\"m\":null,\"n\":\"yard:out\"},"
	   "\"inputs\":{\"a\":\"/x\",\"b\":\"oss://b/k\",\"c\":\"pfs:y\",\"d\":\"/tmp/../tmp\"},"
	   "\"hyperparameters\":{\"lr\":0.1,\"on\":true,\"s\":\"a b\",\"n\":\"007\",\"l\":[1,2],\"e\":\"\","
	   "\"q\":\"0.1\",\"eq\":\"a=b\"},"
	   "\"metrics\":[{\"name\":\"loss\",\"pattern\":\"loss=([0-9.]+)\"}]}",
	   "all of them");
	if (chdir("/") < 0)
		exit(1);
	IS(written(&(struct data_flags){ .inputs = LIST("t=tmp") }),
	   "{\"inputs\":{\"t\":\"/tmp\"}}", "a path is meant from where we are");
	OK(!written(&(struct data_flags){ .inputs = LIST("/x") }) &&
		   strstr(err.text, "write NAME=PATH"),
	   "an input has a name");
	OK(!written(&(struct data_flags){ .params = LIST("=1") }) &&
		   strstr(err.text, "--param '=1'"),
	   "a parameter too");
	OK(!written(&(struct data_flags){ .metrics = LIST("loss") }) &&
		   strstr(err.text, "NAME=REGEX"),
	   "and a metric");
}

static const char *of_file(const char *text)
{
	char path[] = "/tmp/yard-requirements.XXXXXX";
	struct data_flags f = { .requirements = path };
	int fd = mkstemp(path);
	const char *got;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		exit(1);
	close(fd);
	got = written(&f);
	unlink(path);
	return got;
}

static void requirements(void)
{
	IS(of_file(""), "{\"requirements\":[]}", "an empty file");
	IS(of_file("# c\n\n numpy>=1 # why\r\nfoo \\\n  >=2\nb#c==1\n--no-binary x\nlast"),
	   "{\"requirements\":[\"numpy>=1\",\"foo >=2\",\"b#c==1\",\"--no-binary x\",\"last\"]}",
	   "comments and spaces go, lines that go on are one");
	OK(!of_file("numpy\n-r other.txt\n") && strstr(err.text, "names another file"),
	   "files that it names stay here, which is told");
	OK(!written(&(struct data_flags){ .requirements = "/nosuch/file" }) &&
		   strstr(err.text, "/nosuch/file"),
	   "no file");
}

static void places(void)
{
	OK(data_flag_is_uri("pfs:x") && data_flag_is_uri("yard:x") &&
		   data_flag_is_uri("file:/x") && data_flag_is_uri("s3://b"),
	   "URIs are told");
	OK(!data_flag_is_uri("/a:b") && !data_flag_is_uri("a:b") && !data_flag_is_uri(""),
	   "from paths");
}

int main(void)
{
	fields();
	requirements();
	places();
	return END();
}
