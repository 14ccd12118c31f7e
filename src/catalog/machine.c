// SPDX-License-Identifier: Apache-2.0
#include "catalog/machine.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define CORES_MAX 1024
#define GPUS_MAX  DEVICES_MAX
#define GIB       (INT64_C(1) << 30)

bool machine_name_ok(const char *name)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strlen(name);

	return n > 0 && n < MACHINE_NAME_MAX && !strchr("._-", name[0]) &&
	       strspn(name, all) == n;
}

/* "large", "xlarge", "4xlarge"; 0: no size. */
static int64_t cores_of(const char *size)
{
	int64_t times;
	size_t n;

	if (str_eq(size, "large"))
		return 2;
	if (str_eq(size, "xlarge"))
		return 4;
	n = str_leading_i64(size, &times);
	if (n == 0 || !str_eq(size + n, "xlarge") || times < 2 || times > CORES_MAX / 4)
		return 0;
	return 4 * times;
}

/* Of a family's letters; 0: not known. */
static int gib_a_core(const char *family)
{
	switch (family[0]) {
	case 'c':
		return 2;
	case 'g':
		return 4;
	case 'r':
		return 8;
	default:
		return 0;
	}
}

static bool is_generation(const char *s)
{
	return *s >= '1' && *s <= '9';
}

/* "gn6i-c8g1": what follows the dash says cores and GPUs. */
static bool read_gpu_family(const char *family, int64_t *cores, int64_t *gpus)
{
	const char *at = strstr(family, "-c");
	size_t n;

	if (!at || (n = str_leading_i64(at + 2, cores)) == 0 || at[2 + n] != 'g')
		return false;
	at += 3 + n;
	n = str_leading_i64(at, gpus);
	return n > 0 && at[n] == 0 && *cores > 0 && *cores <= CORES_MAX && *gpus > 0 &&
	       *gpus <= GPUS_MAX;
}

bool machine_by_name(const char *name, struct machine *out)
{
	const char *family = name + strlen("ecs."), *dot = strrchr(name, '.');
	int64_t cores, gpus = 0;
	int each;

	*out = (struct machine){ .builtin = true };
	if (!str_starts(name, "ecs.") || !machine_name_ok(name) || dot <= family)
		return false;
	cores = cores_of(dot + 1);
	each = gib_a_core(family);
	AUTO_FREE char *word = mem_strndup(family, (size_t)(dot - family));
	if (cores == 0)
		return false;
	if (str_starts(word, "gn")) {
		if (!read_gpu_family(word, &cores, &gpus))
			return false;
	} else if (each == 0 || !is_generation(word + 1)) {
		return false;
	}
	snprintf(out->name, sizeof out->name, "%s", name);
	out->each.cpu_milli = cores * 1000;
	out->each.memory_bytes = cores * each * GIB;
	return gpus == 0 || resources_set_device(&out->each, "gpu", (int)gpus);
}

bool machine_known(int i, struct machine *out)
{
	static const char *const families[] = { "c6", "c7", "g6", "g7", "r6", "r7" };
	static const char *const sizes[] = { "large", "xlarge", "2xlarge", "4xlarge",
					     "8xlarge" };
	static const char *const others[] = {
		"ecs.gn6i-c4g1.xlarge",   "ecs.gn6i-c8g1.2xlarge",
		"ecs.gn6i-c16g1.4xlarge", "ecs.gn6v-c8g1.2xlarge",
		"ecs.gn7i-c8g1.2xlarge",  "ecs.gn7i-c16g1.4xlarge",
		"ecs.gn7i-c32g1.8xlarge",
	};
	const int plain = (int)(COUNT_OF(families) * COUNT_OF(sizes));
	char name[MACHINE_NAME_MAX];

	if (i < 0 || i >= plain + (int)COUNT_OF(others))
		return false;
	if (i < plain)
		snprintf(name, sizeof name, "ecs.%s.%s",
			 families[(size_t)i / COUNT_OF(sizes)],
			 sizes[(size_t)i % COUNT_OF(sizes)]);
	else
		snprintf(name, sizeof name, "%s", others[i - plain]);
	return machine_by_name(name, out);
}

static int read_devices(const struct doc_node *devices, struct machine *out,
			struct err *err)
{
	int64_t count;

	for (const struct doc_node *n = devices ? devices->first : NULL; n; n = n->next)
		if (doc_whole(n, 1, DEVICES_MAX, &count) < 0 ||
		    !resources_set_device(&out->each, n->key, (int)count))
			return err_set(
				err, ERR_INVALID,
				"devices.%.64s: 1 to %d of a kind, of at most %d kinds",
				n->key, DEVICES_MAX, DEVICE_KINDS_MAX);
	return 0;
}

int machine_read(const struct doc_node *map, const char *name, struct machine *out,
		 struct err *err)
{
	*out = (struct machine){ 0 };
	if (!machine_name_ok(name))
		return err_set(err, ERR_INVALID,
			       "name: letters, digits, '.', '_' and '-', at most %d",
			       MACHINE_NAME_MAX - 1);
	snprintf(out->name, sizeof out->name, "%s", name);
	if (doc_whole(doc_get(map, "cpu_milli"), 1, INT64_C(1000) * CORES_MAX,
		      &out->each.cpu_milli) < 0)
		return err_set(err, ERR_INVALID,
			       "cpu_milli: 1 to %d: thousandths of a core",
			       1000 * CORES_MAX);
	if (doc_whole(doc_get(map, "memory_bytes"), 1 << 20, INT64_C(1) << 50,
		      &out->each.memory_bytes) < 0)
		return err_set(err, ERR_INVALID, "memory_bytes: at least 1 MiB");
	return read_devices(doc_get(map, "devices"), out, err);
}

void machine_write(const struct machine *m, struct json *j, const char *key, bool fits)
{
	json_object(j, key);
	json_str(j, "name", m->name);
	json_i64(j, "cpu_milli", m->each.cpu_milli);
	json_i64(j, "memory_bytes", m->each.memory_bytes);
	json_object(j, "devices");
	for (size_t i = 0; i < DEVICE_KINDS_MAX && m->each.devices[i].type[0]; i++)
		json_i64(j, m->each.devices[i].type, m->each.devices[i].count);
	json_end(j);
	json_bool(j, "fits", fits);
	json_bool(j, "builtin", m->builtin);
	json_end(j);
}
