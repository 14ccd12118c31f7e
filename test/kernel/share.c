// SPDX-License-Identifier: Apache-2.0
/* One folder, shared by tasks of several ranges of uids: an idmapped bind for each.  What is
 * a member's own user there is the same file's owner for all. */
#include "base/mem.h"
#include "claim.h"
#include "shim/mount.h"
#include "shim/userns.h"

#define GROUP 1000000u
#define FIRST 2000000u /* the range of one member's tasks, */
#define OTHER 3000000u /* and of another's */

static struct err err;

/* The folder as a member of this range sees it. */
static bool share(const char *at, unsigned base)
{
	struct idrange r = { GROUP, base, 65536 };
	AUTO_FD int userns = userns_create(&r, &r, &err);
	int fd = userns < 0 ? -1 : mount_copy("/mnt/share", false, &err);

	return fd >= 0 &&
	       mount_change(fd, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, userns, false,
			    &err) == 0 &&
	       mount_place(fd, AT_FDCWD, at, &err) == 0;
}

static bool prepare(const char *type)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", "/mnt", "tmpfs", 0, "mode=0755") == 0 &&
	       mkdir("/mnt/share", 0700) == 0 && mkdir("/mnt/a", 0755) == 0 &&
	       mkdir("/mnt/b", 0755) == 0 &&
	       mount(type, "/mnt/share", "tmpfs", 0, "mode=0700") == 0 &&
	       chown("/mnt/share", GROUP, GROUP) == 0;
}

/* As root of that range, as a task is. */
static int as(unsigned base, int (*fn)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		int userns = userns_range(base, 65536, &err);

		_exit(userns < 0 || setns(userns, CLONE_NEWUSER) < 0 ||
				      setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0
			      ? 99
			      : fn());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static int writes(void)
{
	int fd = open("/mnt/a/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : 1;
}

static int reads_and_changes(void)
{
	struct stat st;
	int fd = open("/mnt/b/file", O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != 0 || st.st_size != 1)
		return 1;
	return write(fd, "yy", 2) == 2 && unlink("/mnt/b/file") == 0 ? 0 : 2;
}

static int is_shut_out(void) /* the folder itself, and another's view of it */
{
	return open("/mnt/share/file", O_RDONLY | O_CLOEXEC) < 0 &&
			       open("/mnt/b/file", O_RDONLY | O_CLOEXEC) < 0
		       ? 0
		       : 1;
}

/* 1: cannot be tried here; 0: holds. */
static int shared(void)
{
	struct stat st;

	if (!prepare("share") || !share("/mnt/a", FIRST) || !share("/mnt/b", OTHER))
		return 1;
	if (as(FIRST, writes) != 0 || stat("/mnt/share/file", &st) < 0 ||
	    st.st_uid != GROUP)
		return 2;
	if (as(FIRST, is_shut_out) != 0)
		return 3;
	return as(OTHER, reads_and_changes) == 0 ? 0 : 4;
}

/* Private mode: one user, whose own folder is bound as it is. */
static int own(void)
{
	char folder[] = "/tmp/claim-share.XXXXXX", file[64];
	unsigned uid = geteuid();
	struct stat st;
	int fd, kept;

	if (!mkdtemp(folder))
		return 1;
	snprintf(file, sizeof file, "%s/file", folder);
	kept = open(folder, O_PATH | O_CLOEXEC);
	if (!enter(CLONE_NEWNS))
		return 1;
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bool held = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == 0 &&
		    unlinkat(kept, "file", 0) == 0;
	rmdir(folder);
	return held ? 0 : uid == 0 ? 1 : 2;
}

int main(void)
{
	int code = in_child(own);

	if (code == 1)
		CANNOT("a folder of one's own", "no user namespaces here");
	else
		CLAIM(code == 0,
		      "a folder of one's own is root's in one's own namespace: "
		      "no map is needed");
	if (geteuid() != 0) {
		CANNOT("a share of several ranges", "idmapped mounts are root's to make");
		return 0;
	}
	code = in_child(shared);
	if (code == 1)
		CANNOT("a share of several ranges",
		       "this kernel maps no owners on tmpfs");
	else
		CLAIM(code == 0,
		      "two ranges share a folder of a third by idmapped binds: what one "
		      "keeps to itself the other owns, and neither reaches it otherwise");
	return 0;
}
