// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"
#include "who/who.h"

static void written(char *path, const char *text)
{
	FILE *f = fdopen(mkstemp(path), "w");

	fputs(text, f);
	fclose(f);
}

int main(void)
{
	const struct who_rules private = { .daemon_uid = 4711, .uid_base = -1 },
			       many = { .daemon_uid = 0, .uid_base = 1000013824 };
	struct principal p;
	struct err err;

	OK(who_from_peer(&(struct world_peer){ .pid = 1, .uid = 0, .gid = 0 }, &private,
			 &p, &err) == 0 &&
		   p.role == ROLE_ADMIN && p.uid == 0,
	   "root is admin");
	IS(p.name, "root", "by name");
	IS(p.group, "root", "with a group");
	OK(who_from_peer(&(struct world_peer){ .pid = 1, .uid = 4711, .gid = 4711 },
			 &private, &p, &err) == 0 &&
		   p.role == ROLE_ADMIN,
	   "so is the daemon's own user, though nobody knows its name");
	IS(p.name, "uid-4711", "who then is called by number");
	IS(p.group, "default", "and has no group");
	const struct passwd *pw = getpwnam("nobody");
	int64_t uid = pw ? pw->pw_uid : 65534;
	OK(who_from_peer(&(struct world_peer){ .pid = 1, .uid = uid, .gid = 5 }, &private,
			 &p, &err) == 0 &&
		   p.role == ROLE_MEMBER,
	   "others are not");
	OK(who_from_peer(&(struct world_peer){ .pid = -1, .uid = -1, .gid = -1 },
			 &private, &p, &err) < 0 &&
		   err.code == ERR_UNKNOWN_CALLER,
	   "without credentials nobody is anybody");

	OK(who_from_peer(&(struct world_peer){ .pid = 1, .uid = uid, .gid = 5 }, &many,
			 &p, &err) == 0 &&
		   p.role == ROLE_MEMBER,
	   "a daemon of many users knows the machine's accounts");
	OK(who_from_peer(&(struct world_peer){ .pid = 1, .uid = 4242424, .gid = 5 },
			 &many, &p, &err) < 0 &&
		   err.code == ERR_DENIED && strstr(err.text, "no account"),
	   "and nobody else, such as a sub-uid: %s", err.text);
	OK(who_from_peer(
		   &(struct world_peer){ .pid = 1, .uid = many.uid_base + 7, .gid = 5 },
		   &many, &p, &err) < 0 &&
		   err.code == ERR_DENIED && strstr(err.text, "task"),
	   "nor a task: %s", err.text);
	OK(who_from_peer(&(struct world_peer){ .pid = 1, .uid = 0, .gid = 0 }, &many, &p,
			 &err) == 0 &&
		   p.role == ROLE_ADMIN,
	   "root may always");

	struct principal ann = { .name = "ann",
				 .group = "g",
				 .role = ROLE_MEMBER,
				 .scopes = SCOPE_ALL },
			 root = { .name = "root",
				  .role = ROLE_ADMIN,
				  .scopes = SCOPE_ALL };
	OK(who_may_see(&ann, "ann", "g") && who_may_touch(&ann, "ann", "g"),
	   "what is hers is hers");
	OK(!who_may_see(&ann, "bob", "g") && !who_may_touch(&ann, "bob", "g"),
	   "what is his is not");
	OK(who_may_see(&root, "bob", "g") && who_may_touch(&root, "bob", "g"),
	   "an admin may");

	char empty[] = "/tmp/who-XXXXXX", full[] = "/tmp/who-XXXXXX";
	written(empty, "");
	written(full, "ann:100000:65536\nbob:1500000000:100\nnonsense\nx:y:z\n");
	int64_t low = who_uid_base(empty, &err), high = who_uid_base(full, &err);
	OK(low >= 1000000000 && low % WHO_RANGE == 0, "ranges begin high and aligned");
	OK(high >= 1500000100 && high % WHO_RANGE == 0,
	   "above every range that is given away");
	OK(who_uid_base("/nonexistent/subuid", &err) == low, "no file is no ranges");
	unlink(empty);
	unlink(full);
	return END();
}
