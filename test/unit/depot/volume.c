// SPDX-License-Identifier: Apache-2.0
/* What a path means, whose it is and who may; how an area is made. */
#include "depot/volume_path.h"

#include <sys/wait.h>

#include "storage_rig.h"

static const struct {
	const char *path, *canonical; /* NULL: ERR_NOT_FOUND or worse */
} meanings[] = {
	{ "a", "/pfs/local/home/ann/a" },
	{ "~", "/pfs/local/home/ann" },
	{ "~/", "/pfs/local/home/ann" },
	{ "~/a//b/./c/", "/pfs/local/home/ann/a/b/c" },
	{ "~a", "/pfs/local/home/ann/~a" },
	{ ".", "/pfs/local/home/ann" },
	{ "/", "/" },
	{ "//", "/" },
	{ "/pfs", "/pfs" },
	{ "/pfs/local/", "/pfs/local" },
	{ "/pfs/local/home", "/pfs/local/home" },
	{ "/mnt/user", "/pfs/local/home" },
	{ "/mnt/share", "/pfs/local/group" },
	{ "/mnt", "/mnt" },
	{ "/jobs", "/jobs" },
	{ "/jobs/7", "/jobs/7" },
	{ "/jobs/7/model/x", "/jobs/7/model/x" },
	{ "/mnt/user/ann/a b", "/pfs/local/home/ann/a b" },
	{ "/mnt/share/lab/x", "/pfs/local/group/lab/x" },
	{ "/pfs/public/x", "/pfs/local/public/x" },
	{ "/pfs/local/public", "/pfs/local/public" },
	{ "/pfs/elsewhere", NULL },
	{ "/pfs/local/homes", NULL },
	{ "/mnt/users", NULL },
	{ "/jobs/seven", NULL },
	{ "/jobs/0", NULL },
	{ "/home/ann", NULL },
	{ "a/..", NULL },
	{ "", NULL },
};

static void test_meanings(void)
{
	int wrong = 0;

	for (size_t i = 0; i < COUNT_OF(meanings); i++) {
		struct volume_place p;
		struct err err = { 0 };
		int rc = rig_find_as("ann", false, meanings[i].path, &p, &err);
		const char *got = rc == 0 ? p.path : NULL;
		if (!str_eq(got, meanings[i].canonical)) {
			printf("# '%s' is %s, not %s\n", meanings[i].path,
			       got ? got : err.text,
			       meanings[i].canonical ? meanings[i].canonical : "none");
			wrong++;
		}
		if (rc == 0) {
			struct volume_place again;
			wrong += rig_find_as("ann", false, p.path, &again, &err) < 0 ||
				 !str_eq(again.path, p.path) || !str_eq(again.rel, p.rel);
			volume_place_fini(&again);
			volume_place_fini(&p);
		}
	}
	OK(wrong == 0, "each path means what it should, and its canonical form the same");
}

#define R   VOLUME_READ
#define ALL (VOLUME_READ | VOLUME_WRITE | VOLUME_REMOVE)

static const struct {
	const char *who;
	bool admin;
	const char *path;
	unsigned rights; /* 0: not there */
} rights[] = {
	{ "ann", false, "/pfs/local/home/ann/x", ALL },
	{ "ann", false, "/pfs/local/home/bob/x", 0 },
	{ "root", true, "/pfs/local/home/ann/x", ALL },
	{ "ann", false, "/pfs/local/group/lab/x", ALL },
	{ "bob", false, "/pfs/local/group/lab/x", 0 },
	{ "ann", false, "/pfs/local/group/vision", 0 },
	{ "root", true, "/pfs/local/group/vision", ALL },
	{ "root", true, "/pfs/local/group/nobody", 0 },
	{ "ann", false, "/pfs/local/group/default", 0 },
	{ "ann", false, "/pfs/public/x", R },
	{ "root", true, "/pfs/public/x", ALL },
	{ "ann", false, "/jobs/7/model", R | VOLUME_REMOVE },
	{ "root", true, "/jobs/7/model", R },
	{ "bob", false, "/jobs/7/model", 0 },
	{ "ann", false, "/jobs/8/model", 0 },
};

static void test_rights(void)
{
	int wrong = 0;

	for (size_t i = 0; i < COUNT_OF(rights); i++) {
		struct volume_place p = { 0 };
		struct err err = { 0 };
		unsigned got = rig_find_as(rights[i].who, rights[i].admin, rights[i].path,
					   &p, &err) == 0
				       ? p.rights
				       : 0;
		bool may = p.path && volume_may(&p, VOLUME_WRITE, &err) == 0;
		if (got != rights[i].rights ||
		    may != ((rights[i].rights & VOLUME_WRITE) != 0)) {
			printf("# %s at %s: %u\n", rights[i].who, rights[i].path, got);
			wrong++;
		}
		volume_place_fini(&p);
	}
	OK(wrong == 0, "a home is its user's, a share its members', public everybody's "
		       "to read, an output as its job");
}

static void test_uris(void)
{
	IS(volume_uri_path("pfs:/pfs/public/x"), "/pfs/public/x", "pfs:/path");
	IS(volume_uri_path("pfs:///pfs/public/x"), "/pfs/public/x", "pfs:///path");
	IS(volume_uri_path("yard:a/b"), "a/b", "yard:relative");
	OK(!volume_uri_path("oss://bucket/x") && !volume_uri_path("/pfs/x"),
	   "other schemes are not ours");
}

static void test_ready(void)
{
	AUTO_PLACE struct volume_place home = rig_place("~"),
				       share = rig_place("/mnt/share/lab");
	struct err err = { 0 };
	struct stat st;

	OK(volume_ready(&home, &err) == 0 && stat(home.folder, &st) == 0 &&
		   (st.st_mode & 07777) == 0700,
	   "a home is made, closed to others");
	OK(!rig_ranges || st.st_uid == RIG_UID, "it belongs to its user's uids");
	OK(volume_ready(&home, &err) == 0, "it may be there already");
	OK(volume_ready(&share, &err) == 0 && stat(share.folder, &st) == 0 &&
		   (!rig_ranges || st.st_uid == RIG_UID + 2 * VOLUME_RANGE),
	   "a share belongs to uids of the group's own");
	AUTO_PLACE struct volume_place bob = { 0 };
	OK(rig_find_as("root", true, "/pfs/local/home/bob", &bob, &err) == 0 &&
		   volume_ready(&bob, &err) < 0 && err.code == ERR_NOT_FOUND,
	   "nobody makes somebody else's home, not even an admin");
	if (!rig_ranges)
		return;
	AUTO_FREE char *x = NULL;
	OK(rig_put("x", "text", &err) == 0 && (x = rig_read("x", &err)),
	   "files are made there: %s", err.text);
	AUTO_PLACE struct volume_place file = rig_place("x");
	AUTO_FREE char *real = volume_real(&file, &err);
	OK(real && stat(real, &st) == 0 && st.st_uid == RIG_UID, "and are its user's");
	OK(chown(home.folder, 5, 5) == 0 && volume_ready(&home, &err) < 0 &&
		   err.code == ERR_CONFLICT,
	   "a home of somebody else's is not made one's own in passing");
	OK(chown(home.folder, RIG_UID, RIG_UID) == 0, "as it was");
}

/* A board of a job may be asked for before the job has begun. */
static void test_output_to_come(void)
{
	AUTO_PLACE struct volume_place soon = rig_place("/jobs/7/soon"),
				       never = rig_place("/jobs/7/never");
	struct err err = { 0 };
	struct stat st;

	AUTO_FREE char *real = volume_real(&soon, &err);
	OK(real && stat(real, &st) == 0 && (st.st_mode & 07777) == 0700 &&
		   (!rig_ranges || st.st_uid == RIG_UID),
	   "what a job will put out is there, empty, and its owner's: %s", err.text);
	AUTO_FREE char *again = volume_real(&soon, &err);
	OK(again != NULL, "also when it is asked for again");
	AUTO_FREE char *none = volume_real(&never, &err);
	OK(!none && err.code == ERR_NOT_FOUND && stat(never.folder, &st) < 0,
	   "what it will not is not made");
}

/* The same user by their account of this machine, who has other uids than their tasks. */
static void test_host_account(void)
{
	AUTO_PLACE struct volume_place home = { 0 };
	struct volume_who ann = { .name = "ann", .uid = 4242 };
	struct err err = { 0 };
	struct stat st;

	OK(volume_find(rig_volume, &ann, "~", &home, &err) == 0 &&
		   volume_ready(&home, &err) == 0,
	   "a home whose user has an account here: %s", err.text);
	rig_put("from-job", "text", &err);
	AUTO_FREE char *path = str_printf("%s/from-job", home.folder);
	for (int uid = 4242; uid <= 4243; uid++) {
		pid_t pid = fork();
		if (pid == 0) {
			if (setgid(4242) < 0 || setuid((uid_t)uid) < 0)
				_exit(9);
			_exit((access(path, R_OK) == 0) | (access(path, W_OK) == 0) << 1);
		}
		int status = -1;
		waitpid(pid, &status, 0);
		int may = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		if (uid == 4243)
			IS_INT(may, 0, "nobody else's account may anything");
		else if (stat(path, &st) == 0 && may == 0)
			printf("# no access lists on this file system\n");
		else
			IS_INT(may, 1,
			       "that account reads what is there, and changes nothing");
	}
}

/* Nobody has given out uids for it: root's own rights must not be what serves. */
static void test_no_range(void)
{
	AUTO_PLACE struct volume_place p = { 0 };
	struct err err = { 0 };
	struct file_info info;

	OK(rig_find_as("eve", false, "~/x", &p, &err) == 0 && p.uid == VOLUME_NO_RANGE,
	   "one who has no uids yet is known as such");
	OK(file_open(&p, &info, &err) < 0 && file_make_folder(&p, true, &err) < 0,
	   "nothing is opened or made for them");
}

static void refused(const struct volume_config *c, const char *word, const char *law)
{
	struct err err = { 0 };
	struct volume *v = volume_create(c, &err);

	OK(!v && strstr(err.text, word), "%s: %s", law, err.text);
	volume_destroy(v);
}

static void test_settings(void)
{
	AUTO_FREE char *root = str_printf("%s/pfs", rig_dir);
	AUTO_FREE char *file = str_printf("%s/file", rig_dir);
	const char *bad_nas[] = { "data" }, *no_nas[] = { "data=/no/such/folder" },
		   *good[] = { "data=/tmp" }, *bad_root[] = { "/no/such/folder" };
	struct err err = { 0 };

	rig_write(file, "x");
	refused(&(struct volume_config){ .root = file }, "storage-root",
		"a root that is no folder is refused");
	refused(&(struct volume_config){ .root = "pfs" }, "absolute",
		"so is one that depends on where one stands");
	refused(&(struct volume_config){ .root = root, .dc = "a/b" }, "storage-dc",
		"a name that is none for a folder is refused");
	refused(&(struct volume_config){ .root = root, .nas = bad_nas, .nas_count = 1 },
		"nas", "a nas without a folder is refused");
	refused(&(struct volume_config){ .root = root, .nas = no_nas, .nas_count = 1 },
		"mount", "so is one that is not mounted");
	refused(&(struct volume_config){ .root = root,
					 .file_roots = bad_root,
					 .file_root_count = 1 },
		"file-roots", "a file root that is not there is refused");
	struct volume *v = volume_create(
		&(struct volume_config){ .root = root,
					 .dc = "east",
					 .nas = good,
					 .nas_count = 1,
					 .file_roots = (const char *const[]){ "/tmp" },
					 .file_root_count = 1 },
		&err);
	OK(v && str_eq(volume_nas(v, "data"), "/tmp") && !volume_nas(v, "other"),
	   "a nas has its folder");
	OK(v && volume_check_file_root(v, "/tmp/x", &err) == 0 &&
		   volume_check_file_root(v, "/tmp", &err) == 0 &&
		   volume_check_file_root(v, "/tmpx/y", &err) < 0 &&
		   volume_check_file_root(v, "/etc", &err) < 0,
	   "files may lie in the roots that are allowed, and nowhere else");
	volume_destroy(v);
}

static void all(bool ranges)
{
	rig_begin(ranges);
	test_meanings();
	test_rights();
	test_ready();
	test_output_to_come();
	if (ranges) {
		test_no_range();
		test_host_account();
	}
	test_settings();
	rig_end();
}

int main(void)
{
	test_uris();
	if (geteuid() == 0)
		all(true);
	all(false);
	return END();
}
