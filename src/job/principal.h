// SPDX-License-Identifier: Apache-2.0
/* principal.h - on whose behalf something is asked, and what they may. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_MAX_BYTES       64 /* of a user or group, with the NUL */
#define PRINCIPAL_GROUPS_MAX 16
/* Who is in no group is in this one, which shares nothing. */
#define GROUP_DEFAULT "default"

enum user_role {
	ROLE_VIEWER, /* sees what is theirs or their groups', changes nothing */
	ROLE_MEMBER, /* and submits jobs, touches what is theirs or their groups' */
	ROLE_ADMIN,  /* everything */
	ROLE_COUNT
};

/* What a credential is good for; a token may have less than its user. */
enum scope {
	SCOPE_READ = 1,
	SCOPE_WRITE = 2, /* submit, stop, change what is theirs */
	SCOPE_ADMIN = 4, /* what the role admin is needed for */
	SCOPE_ALL = 7,
};

struct principal {
	char name[NAME_MAX_BYTES];
	char group[NAME_MAX_BYTES]; /* where jobs go that name none */
	char groups[PRINCIPAL_GROUPS_MAX][NAME_MAX_BYTES]; /* all of them, `group` too */
	size_t group_count;
	enum user_role role;
	unsigned scopes;
	int64_t uid; /* of their account on this machine, -1: none */
};

/* What tells them from everybody else, as a file name: the uid, or for one who has none on
 * this machine "@" and the name.  The caller frees it. */
char *principal_key(const struct principal *p);
/* The role and the credential both allow everything. */
bool principal_is_admin(const struct principal *p);
/* Of a group that shares; GROUP_DEFAULT never. */
bool principal_in(const struct principal *p, const char *group);
const char *user_role_word(enum user_role r); /* "viewer", "member", "admin" */
int user_role_from_word(const char *word, enum user_role *out);
