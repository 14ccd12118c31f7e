// SPDX-License-Identifier: Apache-2.0
/* Images: versions, who sees which, which is the latest, what a job may name. */
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "catalog/catalog.h"
#include "catalog/host.h"

static const char *const rising[] = {
	"1.9",    "1.10rc1", "1.10", "1.10.1", "2.0a1", "2.0b1",
	"2.0rc1", "2.0rc2",  "2.0",  "2.0.1",  "10",    "99999999999999999999"
};

static void versions(void)
{
	bool well = true;

	for (size_t i = 0; i < COUNT_OF(rising); i++)
		for (size_t k = 0; k < COUNT_OF(rising); k++) {
			int order = version_compare(rising[i], rising[k]);
			bool as_told = i < k ? order < 0 : i > k ? order > 0 : order == 0;
			if (!as_told)
				printf("# %s and %s: %d\n", rising[i], rising[k], order);
			well = well && as_told;
		}
	OK(well, "versions rise as people mean it");
	OK(version_within("1.12.1", "1.12") && version_within("1.12", "1.12") &&
		   version_within("1.12rc1", "1.12") &&
		   !version_within("1.120", "1.12") && !version_within("1.1", "1.12") &&
		   !version_within("1", ""),
	   "a finer version is of the coarser one");
}

static struct principal person(const char *name, enum user_role role)
{
	struct principal p = { .role = role, .scopes = SCOPE_ALL, .uid = -1 };

	snprintf(p.name, sizeof p.name, "%s", name);
	return p;
}

static size_t list(const struct catalog *c, const struct principal *who,
		   struct image_filter f, const struct image **out)
{
	return catalog_images(c, who, &f, out, 50);
}

static void put(struct catalog *c, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void put(struct catalog *c, const char *name, const char *fmt, ...)
{
	char body[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(body, sizeof body, fmt, ap);
	va_end(ap);
	catalog_apply_image(c, name, body);
}

static void seen(struct world *w)
{
	struct catalog *c = catalog_create(w);
	struct principal ann = person("ann", ROLE_MEMBER),
			 bob = person("bob", ROLE_MEMBER),
			 boss = person("boss", ROLE_ADMIN);
	const struct image *out[50];

	for (int minor = 9; minor <= 12; minor++)
		put(c,
		    minor == 9    ? "t9"
		    : minor == 10 ? "t10"
		    : minor == 11 ? "t11"
				  : "t12",
		    "{\"framework\":\"PyTorch\",\"version\":\"1.%d.1\",\"python\":\"3.8\","
		    "\"accelerator\":\"%s\",\"owner\":\"boss\"}",
		    minor, minor % 2 ? "GPU" : "CPU");
	put(c, "ann/mine",
	    "{\"scope\":\"own\",\"owner\":\"ann\",\"framework\":\"PyTorch\","
	    "\"version\":\"9\"}");
	size_t n = list(c, &bob, (struct image_filter){ .framework = "pytorch" }, out);
	OK(n == 4 && strcmp(out[0]->name, "t12") == 0 && strcmp(out[3]->name, "t9") == 0,
	   "the highest version comes first, the framework in any case");
	n = list(c, &bob,
		 (struct image_filter){ .framework = "PyTorch", .version = "latest" },
		 out);
	OK(n == 2 && strcmp(out[0]->name, "t12") == 0 && strcmp(out[1]->name, "t11") == 0,
	   "latest is one for each accelerator");
	n = list(c, &bob,
		 (struct image_filter){ .version = "1.11", .accelerator = "gpu" }, out);
	OK(n == 1 && strcmp(out[0]->name, "t11") == 0, "1.11 finds 1.11.1");
	OK(strcmp(out[0]->uri,
		  "trainyard/official/pytorch-training:1.11.1-gpu-py38-linux") == 0,
	   "a uri is made of the rest: %s", out[0]->uri);
	OK(catalog_image(c, &bob, out[0]->uri) == out[0], "and finds it");
	OK(list(c, &ann, (struct image_filter){ .scope = "own" }, out) == 1 &&
		   list(c, &bob, (struct image_filter){ .scope = "own" }, out) == 0 &&
		   list(c, &boss, (struct image_filter){ .scope = "own" }, out) == 1,
	   "one's own is seen by oneself and by admins");
	OK(catalog_image(c, &ann, "mine") && !catalog_image(c, &bob, "mine") &&
		   !catalog_image(c, &bob, "ann/mine"),
	   "and found by them");
	OK(list(c, &bob, (struct image_filter){ .use = "train" }, out) == 0 &&
		   list(c, &bob, (struct image_filter){ .use = "develop" }, out) == 4,
	   "a use is a whole word");
	OK(list(c, &bob, (struct image_filter){ .text = "T1" }, out) == 3,
	   "text in any case");
	catalog_apply_image(c, "t12", NULL);
	OK(list(c, &bob, (struct image_filter){ 0 }, out) == 3,
	   "what is removed is gone");
	catalog_destroy(c);
}

static size_t problems_of(const struct catalog *c, const char *image, char *text,
			  size_t size)
{
	struct principal ann = person("ann", ROLE_MEMBER);
	AUTO_PROBLEMS struct problems p = { 0 };
	struct role role = { .name = (char *)"main", .image = (char *)(uintptr_t)image };
	struct spec spec = { .roles = &role, .role_count = 1 };

	catalog_check_spec(c, &ann, &spec, &p);
	snprintf(text, size, "%s: %s", p.count ? p.items[0].field : "",
		 p.count ? p.items[0].text : "");
	return p.count;
}

static void named(struct world *w)
{
	struct catalog *c = catalog_create(w);
	char text[512];

	put(c, "here", "{\"runs\":\"host\"}");
	put(c, "box", "{\"runs\":\"registry.example/x:1\"}");
	OK(problems_of(c, "host", text, sizeof text) == 0 &&
		   problems_of(c, "here", text, sizeof text) == 0,
	   "what runs on the host may be named");
	OK(problems_of(c, "box", text, sizeof text) == 1 &&
		   strstr(text, "roles.main.image") &&
		   strstr(text, "registry.example/x:1"),
	   "a container is refused: %s", text);
	OK(problems_of(c, "nothing", text, sizeof text) == 1 &&
		   strstr(text, "yard image ls"),
	   "so is what is not there: %s", text);
	catalog_destroy(c);
}

static const struct {
	const char *body, *says;
} wrong[] = {
	{ "{\"scope\":\"all\"}", "scope" },
	{ "{\"accelerator\":\"gpu\"}", "accelerator" },
	{ "{\"use\":[\"fun\"]}", "use" },
	{ "{\"use\":\"training\"}", "use" },
	{ "{\"labels\":[]}", "labels" },
	{ "{\"labels\":{\"a\":1}}", "labels.a" },
	{ "{\"runs\":\"a b\"}", "runs" },
	{ "{\"version\":\"1\\u0007\"}", "version" },
	{ "{\"python\":{}}", "python" },
};

static void bodies(void)
{
	struct err err;

	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		AUTO_DOC struct doc *d =
			doc_parse_json(wrong[i].body, strlen(wrong[i].body), NULL);
		err.text[0] = 0;
		OK(d && !image_read(doc_root(d), "x", &err) &&
			   str_starts(err.text, wrong[i].says),
		   "%s is refused: %s", wrong[i].body, err.text);
	}
	OK(image_name_ok("a-b.c_9") && !image_name_ok("") && !image_name_ok("A") &&
		   !image_name_ok("-a") && !image_name_ok("a/b") &&
		   !image_name_ok("../a"),
	   "names");
}

static void found(void)
{
	static const char text[] =
		"{\"python\":\"3.11.2\",\"os\":\"debian12\",\"frameworks\":"
		"{\"PyTorch\":\"1.13.1\",\"scikit-learn\":\"1.2\",\"a/b\":\"1\"}}";
	struct host_find f = { 0 };

	host_read(text, strlen(text), &f);
	OK(f.count == 3 && strcmp(f.items[0]->name, "host") == 0 &&
		   strcmp(f.items[1]->name, "host-pytorch") == 0 &&
		   strcmp(f.items[1]->uri,
			  "trainyard/official/pytorch-training:1.13.1-cpu-py311-debian12") ==
			   0,
	   "each framework of the host is an entry");
	host_find_fini(&f);
	host_read("{\"python\"", 9, &f);
	OK(f.count == 1 && strcmp(f.items[0]->runs, "host") == 0,
	   "a Python that says nothing leaves the host itself");
	host_find_fini(&f);
	host_read(NULL, 0, &f);
	OK(f.count == 1, "so does none");
	host_find_fini(&f);
}

static void looked(void *arg)
{
	world_stop(arg);
}

/* A Python that never ends is left alone after a while; here: one that fails. */
static void looks(struct world *w)
{
	char dir[] = "/tmp/yard-catalog-XXXXXX";
	struct catalog *c = catalog_create(w);
	struct principal ann = person("ann", ROLE_MEMBER);

	OK(mkdtemp(dir) != NULL, "a folder");
	AUTO_FREE char *program = str_printf("%s/python3", dir);
	FILE *f = fopen(program, "w");
	fputs("#!/bin/sh\necho '{\"python\":\"3.9.1\",\"os\":\"x\",\"frameworks\":{\"XGBoost\":\"1.7\"}}'\n",
	      f);
	fclose(f);
	chmod(program, 0755);
	OK(!catalog_has_looked(c), "nobody has looked");
	catalog_look(c, dir, looked, w);
	world_run(w);
	OK(catalog_has_looked(c) && catalog_image(c, &ann, "host-xgboost"),
	   "the Python of that path was asked");
	put(c, "host-xgboost", "{\"version\":\"2\",\"owner\":\"boss\"}");
	const struct image *out[50];
	OK(list(c, &ann, (struct image_filter){ .framework = "XGBoost" }, out) == 0 &&
		   strcmp(catalog_image(c, &ann, "host-xgboost")->version, "2") == 0,
	   "what an admin says takes its place");
	unlink(program);
	rmdir(dir);
	catalog_look(c, dir, looked, w); /* answered at once: it is known */
	catalog_destroy(c);
}

int main(void)
{
	struct err err;
	struct world *w = world_uv_create(&err);

	versions();
	seen(w);
	named(w);
	bodies();
	found();
	looks(w);
	world_destroy(w);
	return END();
}
