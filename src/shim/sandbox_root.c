// SPDX-License-Identifier: Apache-2.0
/* The root without an image: the host's programs, seen through overlays.
 *
 * Root mode needs three things at once: files of the host's root look as root's inside
 * (so that sudo, apt and pip work), writes vanish, and what is not world-readable on the
 * host stays hidden from a task that is root inside.  So each lower is
 *   l<n>  the host's folder, read-only, its owners mapped to the user's range;
 *   o<n>  a read-only overlay on it, made with the eyes of a uid nobody has and without
 *         the right to override permissions: an overlay opens its lower as the one who
 *         made it, so the kernel itself refuses every file that is not world-readable;
 *   then the writable overlay on o<n>.
 * No scan, no list that could be out of date.  o<n> costs 20 us.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/mount.h"
#include "shim/sandbox_parts.h"

#define NOBODY 4294967290u /* a uid that no map ever contains */

int sandbox_overlay_slot(struct sandbox *s, struct err *err)
{
	char name[16];
	int n = s->overlays++;

	for (const char *kind = "uwlo"; *kind; kind++) {
		snprintf(name, sizeof name, "%c%d", *kind, n);
		if (sandbox_mkdir(s, AT_FDCWD, name, 0755, err) < 0)
			return -1;
	}
	return n;
}

/* Makes o<n> of l<n> with the least rights a mount can be made with. */
static int guard(int n, struct err *err)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct all[2], few[2];
	char lower[64], at[16];
	const char *options[] = { lower, NULL };
	int fd;

	/* Without an upper it wants two lowers. */
	snprintf(lower, sizeof lower, "lowerdir=empty:l%d", n);
	snprintf(at, sizeof at, "o%d", n);
	if (syscall(SYS_capget, &head, all) < 0)
		return err_sys(err, "read capabilities");
	memcpy(few, all, sizeof few);
	few[0].effective = 1u << CAP_SYS_ADMIN;
	few[1].effective = 0;
	setfsgid(NOBODY);
	setfsuid(NOBODY);
	fd = syscall(SYS_capset, &head, few) < 0
		     ? err_sys(err, "lower capabilities")
		     : mount_new("overlay", options, MOUNT_ATTR_RDONLY, err);
	if (syscall(SYS_capset, &head, all) < 0 && fd >= 0) {
		close(fd);
		fd = err_sys(err, "restore capabilities");
	}
	setfsuid(0);
	setfsgid(0);
	return fd < 0 ? -1 : mount_place(fd, AT_FDCWD, at, err);
}

int sandbox_overlay(struct sandbox *s, int n, bool guarded, int at, struct err *err)
{
	char lower[48], upper[48], work[48];
	/* Nothing in it is to outlive the task: volatile leaves out every sync. */
	const char *options[] = {
		lower, upper, work, "volatile", s->root_mode ? NULL : "userxattr", NULL
	};
	int fd;

	if (guarded && guard(n, err) < 0)
		return -1;
	snprintf(lower, sizeof lower, "lowerdir=%c%d", guarded ? 'o' : 'l', n);
	snprintf(upper, sizeof upper, "upperdir=u%d", n);
	snprintf(work, sizeof work, "workdir=w%d", n);
	fd = mount_new("overlay", options, MOUNT_ATTR_NODEV, err);
	return fd < 0 ? -1 : mount_place(fd, at, "", err);
}

struct small_file {
	const char *path;
	mode_t mode; /* S_IFDIR: a folder; with S_ISVTX: that replaces the host's, not adds to it */
	const char *text;
};

/* What programs want to read but the host hides, and the locks of apt and dpkg (0640 on
 * the host, so hidden too). */
static const struct small_file etc_files[] = {
	{ "shadow", 0640, "root:*:19000:0:99999:7:::\n" },
	{ "gshadow", 0640, "" },
	{ "sudoers", 0440, "root ALL=(ALL:ALL) NOPASSWD: ALL\n" },
};
static const struct small_file dpkg_files[] = {
	{ "lock", 0640, "" },
	{ "lock-frontend", 0640, "" },
	{ "triggers", S_IFDIR | 0755, NULL },
	{ "triggers/Lock", 0640, "" },
};
static const struct small_file apt_files[] = {
	{ "lists", S_IFDIR | 0755, NULL },
	{ "lists/lock", 0640, "" },
	{ "lists/partial", S_IFDIR | S_ISVTX | 0755, NULL },
};

/* sudo where the real one cannot work (it belongs to a root that is not ours, or is not
 * installed): the task is root already, so this just executes. */
static const char sudo_text[] =
	"#!/bin/sh\n"
	"# Inside a task one is root already.\n"
	"while [ $# -gt 0 ]; do\n"
	"	case \"$1\" in\n"
	"	-u | -g | -p | -C | -h | -r | -t | -T | -U | -D | -R) shift 2 ;;\n"
	"	-i | -s | --login | --shell) shell=1; shift ;;\n"
	"	-v | -k | -K | -l) exit 0 ;;\n"
	"	--) shift; break ;;\n"
	"	-*) shift ;;\n"
	"	[A-Za-z_]*=*) export \"$1\"; shift ;;\n"
	"	*) break ;;\n"
	"	esac\n"
	"done\n"
	"[ $# -gt 0 ] || exec \"${SHELL:-/bin/sh}\"\n"
	"exec \"$@\"\n";

struct lower {
	const char *path;
	const struct small_file *files;
	size_t count;
	bool optional; /* left out when the host's is empty */
};

static const struct lower lowers[] = {
	{ "/usr", NULL, 0, false },
	{ "/etc", etc_files, COUNT_OF(etc_files), false },
	{ "/opt", NULL, 0, true },
	{ "/var/lib/dpkg", dpkg_files, COUNT_OF(dpkg_files), true },
	{ "/var/lib/apt", apt_files, COUNT_OF(apt_files), true },
	/* where they are not links into /usr */
	{ "/bin", NULL, 0, true },
	{ "/sbin", NULL, 0, true },
	{ "/lib", NULL, 0, true },
	{ "/lib32", NULL, 0, true },
	{ "/lib64", NULL, 0, true },
	{ "/libx32", NULL, 0, true },
};

/* Name servers are often behind a link into /run, which is fresh inside; and the host's name
 * is not the task's. */
static int etc_of_machine(struct sandbox *s, int dir, struct err *err)
{
	AUTO_FREE char *name =
		str_printf("%s\n", s->task->hostname ? s->task->hostname : "task");
	AUTO_FD int fd = open("/etc/resolv.conf", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);

	if (n >= 0 && sandbox_file(s, dir, "resolv.conf", 0644,
				   (struct bytes){ text, (size_t)n }, err) < 0)
		return -1;
	return sandbox_file(s, dir, "hostname", 0644,
			    (struct bytes){ name, strlen(name) }, err);
}

/* The bundle's own files directly in /etc (hosts, passwd, ...); they win over ours. */
static int bundle_files(struct sandbox *s, int dir, struct err *err)
{
	for (size_t i = 0; i < s->task->mount_count; i++) {
		const struct shim_mount *m = &s->task->mounts[i];
		const char *name = m->target + strlen("/etc/");

		if (m->kind != SHIM_FILE || !str_starts(m->target, "/etc/") || !*name ||
		    strchr(name, '/'))
			continue;
		if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
			return err_sys(err, "replace %s", m->target);
		if (sandbox_file(s, dir, name, 0644,
				 (struct bytes){ m->content, m->content_len }, err) < 0)
			return -1;
	}
	return 0;
}

static int upper_folder(const struct sandbox *s, const char *upper, int dir,
			const struct small_file *f, struct err *err)
{
	char path[64];

	if (sandbox_mkdir(s, dir, f->path, f->mode & 0777, err) < 0)
		return -1;
	snprintf(path, sizeof path, "%s/%s", upper, f->path);
	if (f->mode & S_ISVTX &&
	    setxattr(path,
		     s->root_mode ? "trusted.overlay.opaque" : "user.overlay.opaque", "y",
		     1, 0) < 0 &&
	    errno != EOPNOTSUPP)
		return err_sys(err, "replace %s", f->path);
	return 0;
}

/* Written into the upper before it is mounted: through the overlay each would cost a whiteout. */
static int fill_upper(struct sandbox *s, const struct lower *l, int n, struct err *err)
{
	char upper[16];

	snprintf(upper, sizeof upper, "u%d", n);
	AUTO_FD int dir = open(upper, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(err, "open %s", upper);
	for (size_t i = 0; i < l->count; i++) {
		const struct small_file *f = &l->files[i];

		if ((S_ISDIR(f->mode)
			     ? upper_folder(s, upper, dir, f, err)
			     : sandbox_file(s, dir, f->path, f->mode,
					    (struct bytes){ f->text, strlen(f->text) },
					    err)) < 0)
			return -1;
	}
	if (str_eq(l->path, "/etc"))
		return etc_of_machine(s, dir, err) < 0 ? -1 : bundle_files(s, dir, err);
	if (!str_eq(l->path, "/usr") ||
	    (s->root_mode && access("/usr/bin/sudo", X_OK) == 0))
		return 0; /* the real one works */
	if (sandbox_mkdir(s, dir, "local", 0755, err) < 0 ||
	    sandbox_mkdir(s, dir, "local/bin", 0755, err) < 0)
		return -1;
	return sandbox_file(s, dir, "local/bin/sudo", 0755,
			    (struct bytes){ sudo_text, sizeof sudo_text - 1 }, err);
}

static bool is_empty(const char *path)
{
	struct stat st;

	/* A folder's link count is 2 when it has no folders; files directly in these do not occur. */
	return stat(path, &st) == 0 && st.st_nlink == 2;
}

/* Where the file system or the kernel (before 5.19) cannot map owners, files of the host's
 * root are nobody's inside: they can be read as by anybody, but sudo and apt do not work. */
static int bind_lower(struct sandbox *s, const char *path, int n, bool *mapped,
		      struct err *err)
{
	const uint64_t attr = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV;
	char at[16];
	AUTO_FD int fd = mount_copy(path, false, err);

	snprintf(at, sizeof at, "l%d", n);
	if (fd < 0)
		return -1;
	*mapped = s->root_mode && mount_change(fd, attr, s->maps->range, false, err) == 0;
	if (!*mapped && mount_change(fd, attr, -1, false, err) < 0)
		return -1;
	return mount_place(TAKE_FD(fd), AT_FDCWD, at, err);
}

static int system_folder(struct sandbox *s, const struct lower *l, struct err *err)
{
	struct err why = { 0 };
	struct stat st;
	bool mapped = false;
	int n;

	if (lstat(l->path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    (l->optional && is_empty(l->path)))
		return 0;
	if ((n = sandbox_overlay_slot(s, err)) < 0 || fill_upper(s, l, n, err) < 0)
		return -1;
	AUTO_FD int at = sandbox_folder(s, l->path, err);
	if (at < 0)
		return -1;
	if (bind_lower(s, l->path, n, &mapped, &why) == 0 &&
	    sandbox_overlay(s, n, mapped, at, &why) == 0) {
		s->etc_filled |= str_eq(l->path, "/etc");
		return 0;
	}
	if (s->root_mode)
		return err_set(err, why.code, "show %s: %s", l->path, why.text);
	/* A machine that gives its users no overlays, or has further mounts below: read-only then. */
	return mount_bind(l->path, at, "", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, true,
			  err);
}

int sandbox_system(struct sandbox *s, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(lowers); i++) {
		if (system_folder(s, &lowers[i], err) < 0)
			return -1;
	}
	return 0;
}

static const struct {
	const char *path;
	mode_t mode;
} folders[] = {
	{ "tmp", 01777 },
	{ "run", 0755 },
	{ "run/lock", 01777 },
	{ "var", 0755 },
	{ "var/tmp", 01777 },
	{ "var/lib", 0755 },
	{ "var/log", 0755 },
	{ "var/log/apt", 0755 },
	{ "var/cache", 0755 },
	{ "var/cache/apt", 0755 },
	{ "var/cache/apt/archives", 0755 },
	{ "var/cache/apt/archives/partial", 0755 },
	{ "var/spool", 0755 },
	{ "home", 0755 },
	{ "root", 0700 },
	{ "mnt", 0755 },
	{ "media", 0755 },
	{ "srv", 0755 },
	{ "opt", 0755 },
	{ "proc", 0555 },
	{ "sys", 0555 },
	{ "dev", 0755 },
};

/* /bin and the like are links into /usr on a merged system: the same links inside. */
static int copy_links(struct sandbox *s, struct err *err)
{
	static const char *const names[] = { "/bin",   "/sbin",  "/lib",
					     "/lib32", "/lib64", "/libx32" };
	char to[256], path[32];

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		ssize_t n = readlink(names[i], to, sizeof to - 1);

		if (n <= 0)
			continue;
		to[n] = 0;
		snprintf(path, sizeof path, "root%s", names[i]);
		if (sandbox_link(s, to, path, err) < 0)
			return -1;
	}
	return sandbox_link(s, "/run", "root/var/run", err) < 0 ||
			       sandbox_link(s, "/run/lock", "root/var/lock", err) < 0
		       ? -1
		       : 0;
}

int sandbox_skeleton(struct sandbox *s, struct err *err)
{
	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		if (sandbox_mkdir(s, s->root, folders[i].path, folders[i].mode, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < s->task->env.count; i++) {
		const char *var = s->task->env.items[i];

		if (!str_starts(var, "HOME=/") || strstr(var, "/../"))
			continue;
		AUTO_FD int home = sandbox_folder(s, var + strlen("HOME="), err);
		if (home < 0)
			return -1;
	}
	return copy_links(s, err);
}
