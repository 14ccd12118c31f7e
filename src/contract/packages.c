// SPDX-License-Identifier: Apache-2.0
/* Python packages: what the code and the job require becomes one file, which pip installs
 * in a stage before the command.  All of the task's files are its own to write, so pip
 * installs where it always would, or, where the owners of files cannot be mapped, below
 * $HOME, as it does by itself then.  Nothing of it outlives the task. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "contract/scene.h"

#define PIP_CONFIG    CONTRACT_CONFIG "/pip.conf"
#define WHEELS        "/ml/wheels"
#define LINE_NAME_MAX 128

static const char list_file[] = CONTRACT_CONFIG "/requirements.txt";

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/* The project a line of a requirements file is about, as pip compares names (small, one '-'
 * for each run of "-_."); "" when it names none. */
static void project_of(const char *line, size_t len, char out[LINE_NAME_MAX])
{
	const char *egg = memmem(line, len, "#egg=", 5);
	size_t i = 0, n = 0;

	while (i < len && (line[i] == ' ' || line[i] == '\t'))
		i++;
	if (egg)
		i = (size_t)(egg - line) + 5;
	else if (i < len && (line[i] == '-' || line[i] == '.'))
		i = len; /* an option, a path */
	for (; i < len && is_name_byte(line[i]) && n < LINE_NAME_MAX - 1; i++) {
		char c = line[i];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c == '.' || c == '_')
			c = '-';
		if (c != '-' || (n && out[n - 1] != '-'))
			out[n++] = c;
	}
	while (n && out[n - 1] == '-')
		n--;
	/* "https://..." and "./pkg" begin like names. */
	if (i < len && !egg && (line[i] == ':' || line[i] == '/'))
		n = 0;
	out[n] = 0;
}

/* The projects that the job's own lines are about, in order: the code's may be many. */
struct projects {
	char (*names)[LINE_NAME_MAX];
	size_t count;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void read_projects(const struct requirements *job, struct projects *out)
{
	out->names = mem_alloc(job->count + 1, sizeof *out->names);
	out->count = 0;
	for (size_t i = 0; i < job->count; i++) {
		project_of(job->items[i], strlen(job->items[i]), out->names[out->count]);
		out->count += *out->names[out->count] != 0;
	}
	qsort(out->names, out->count, sizeof *out->names, by_name);
}

static bool has_project(const struct projects *p, const char *project)
{
	return *project &&
	       bsearch(project, p->names, p->count, sizeof *p->names, by_name);
}

/* What other files a line names by a path relative to its own: "-r FILE", "-c FILE".  Gives
 * the bytes of the option, 0: it is none. */
static size_t file_option(const char *line, size_t len)
{
	static const char *const options[] = { "--requirement", "--constraint", "-r",
					       "-c" };

	for (size_t i = 0; i < COUNT_OF(options); i++) {
		size_t n = strlen(options[i]);
		if (len <= n || strncmp(line, options[i], n) != 0)
			continue;
		if (line[n] == '=' || line[n] == ' ' || line[n] == '\t')
			return n + 1 + strspn(line + n + 1, " \t");
		return options[i][1] == '-' ? 0 : n;
	}
	return 0;
}

/* Our file lies elsewhere than the code's: such paths are made absolute. */
static void add_line(struct buf *out, const char *line, size_t len)
{
	size_t n = file_option(line, len);

	if (n && n < len && line[n] != '/' && !memmem(line, len, "://", 3)) {
		buf_add(out, line, n);
		buf_adds(out, CONTRACT_CODE "/");
		buf_add(out, line + n, len - n);
	} else {
		buf_add(out, line, len);
	}
	buf_addc(out, '\n');
}

/* Bytes of a line, with those it goes on in behind a backslash; without the last newline. */
static size_t line_length(const char *p)
{
	size_t n = strcspn(p, "\n");

	while (p[n] == '\n' && n &&
	       (p[n - 1] == '\\' || (n > 1 && p[n - 1] == '\r' && p[n - 2] == '\\')))
		n += 1 + strcspn(p + n + 1, "\n");
	return n;
}

void packages_merge(const char *code, const struct requirements *job, struct buf *out,
		    struct buf *gone)
{
	char project[LINE_NAME_MAX];
	struct projects own;

	read_projects(job, &own);
	for (const char *p = code ? code : ""; *p;) {
		size_t n = line_length(p), len = n;
		while (len && (p[len - 1] == '\r' || p[len - 1] == ' '))
			len--;
		project_of(p, len, project);
		if (has_project(&own, project))
			buf_printf(gone, "%s%.*s", gone->len ? ", " : "", (int)len, p);
		else
			add_line(out, p, len);
		p += n + (p[n] == '\n');
	}
	free(own.names);
	for (size_t i = 0; i < job->count; i++)
		add_line(out, job->items[i], strlen(job->items[i]));
}

/* What a stage sets unless the job does so itself. */
static void stage_set(const struct scene *v, struct stage *s, const char *name,
		      const char *value)
{
	if (!pairs_get(&v->role->env, name))
		pairs_set(&s->env, name, value);
}

static void set_pip(const struct scene *v, struct stage *s)
{
	const struct contract_pip *pip = &v->places->pip;

	for (const char *const *var = pip->variables; var && *var; var++) {
		const char *eq = strchr(*var, '=');
		AUTO_FREE char *name = eq ? mem_strndup(*var, (size_t)(eq - *var)) : NULL;
		if (name)
			stage_set(v, s, name, eq + 1);
	}
	/* The system's Python is the task's own here, and it is root of nothing else. */
	stage_set(v, s, "PIP_BREAK_SYSTEM_PACKAGES", "1");
	stage_set(v, s, "PIP_ROOT_USER_ACTION", "ignore");
	stage_set(v, s, "PIP_DISABLE_PIP_VERSION_CHECK", "1");
	stage_set(v, s, "PIP_NO_INPUT", "1");
	stage_set(v, s, "PIP_PROGRESS_BAR", "off");
	/* It would be kept in the task's memory, for nobody. */
	stage_set(v, s, "PIP_NO_CACHE_DIR", "1");
	if (pip->no_index)
		stage_set(v, s, "PIP_NO_INDEX", "1");
	/* homes.h puts it there where the submitter has one. */
	if (v->places->uid_base < 0)
		stage_set(v, s, "PIP_CONFIG_FILE", PIP_CONFIG);
}

static void add_stage(struct scene *v)
{
	static const char find[] =
		"p=$(command -v python3 || command -v python) || "
		"{ echo 'there is no Python in PATH to install requirements for' >&2; exit 127; }\n"
		"exec \"$p\" -m pip install \"$@\" >&2"; /* stdout is the command's alone */
	const char *argv[12] = { "sh", "-c", find, "pip", "-r", list_file };
	size_t argc = 6;

	if (v->places->code_wheels) {
		argv[argc++] = "--find-links";
		argv[argc++] = CONTRACT_CODE "/wheels";
	}
	if (v->places->pip.wheels) {
		argv[argc++] = "--find-links";
		argv[argc++] = WHEELS;
		bundle_mount(v->b, MOUNT_OURS_RO, WHEELS, v->places->pip.wheels);
	}
	set_pip(v, bundle_stage(v->b, "requirements", argv, argc));
}

void packages_list(const struct job *j, const char *code, struct contract_peers *out)
{
	const struct requirements *r = &j->spec->requirements;
	AUTO_BUF struct buf text = { 0 };
	AUTO_BUF struct buf gone = { 0 };

	if (r->which != REQUIREMENTS_ALL)
		return;
	packages_merge(code, r, &text, &gone);
	if (!text.len)
		return;
	out->packages = shared_create(text.data, text.len);
	out->gave_way = gone.len ? buf_take(&gone) : NULL;
}

void packages_add(struct scene *v)
{
	const struct contract_peers *p = v->peers;

	if (!p->packages)
		return;
	if (p->gave_way)
		bundle_note(
			v->b,
			"of requirements.txt these give way to what the job requires: %s",
			p->gave_way);
	bundle_note(v->b, "installing the requirements");
	bundle_file(v->b, list_file, shared_ref(p->packages));
	if (v->places->uid_base < 0)
		v->b->pip_config = mem_strdup(PIP_CONFIG);
	/* Where pip puts programs when it cannot write to the system's folders. */
	scene_set(v, "PATH", "%s:%s/.local/bin", pairs_get(&v->b->env, "PATH"),
		  pairs_get(&v->b->env, "HOME"));
	add_stage(v);
}
