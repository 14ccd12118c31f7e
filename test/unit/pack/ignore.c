// SPDX-License-Identifier: Apache-2.0
/* Patterns and rules by themselves; folder.c holds them against git itself. */
#include "pack/ignore.h"

#include "base/mem.h"
#include "pack/glob.h"
#include "tap.h"

static void patterns(void)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} rows[] = {
		{ "", "", true },
		{ "a", "a", true },
		{ "a", "ab", false },
		{ "*", "", true },
		{ "*", "a/b", false },
		{ "a*c", "abbbc", true },
		{ "a*c", "ab/c", false },
		{ "a?c", "a/c", false },
		{ "**", "a/b/c", true },
		{ "**/c", "c", true },
		{ "**/c", "a/b/c", true },
		{ "**/c", "a/bc", false },
		{ "a/**", "a/b/c", true },
		{ "a/**", "a", false },
		{ "a/**/b", "a/b", true },
		{ "a/**/b", "a/x/y/b", true },
		{ "a/**/b", "axb", false },
		{ "a**b", "a/b", false }, /* not between slashes: two stars are one */
		{ "a**b", "axxb", true },
		{ "a/**\\/b", "a/b", false },
		{ "a/**\\/b", "a/x/b", true },
		{ "[abc]", "b", true },
		{ "[!abc]", "b", false },
		{ "[^abc]", "d", true },
		{ "[!a]", "/", false },
		{ "[a-c]", "b", true },
		{ "[a-]", "-", true },
		{ "[]a]", "]", true },
		{ "[[:digit:]x]", "7", true },
		{ "[[:digit:]x]", "a", false },
		{ "[[:nope:]]", "a", false },
		{ "[\\]]", "]", true },
		{ "[a", "a", false },
		{ "a\\", "a", false },
		{ "a\\", "a\\", false },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct glob *g = glob_create(rows[i].pattern, strlen(rows[i].pattern));
		OK(glob_match(g, rows[i].text) == rows[i].matches, "%s %s %s",
		   rows[i].pattern, rows[i].matches ? "matches" : "does not match",
		   rows[i].text);
		glob_destroy(g);
	}
}

static void cost(void)
{
	/* A backtracking matcher needs longer than the universe for this. */
	char pattern[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
	char text[3000];
	struct glob *g = glob_create(pattern, strlen(pattern));

	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	OK(!glob_match(g, text), "no pattern takes exponential time");
	glob_destroy(g);
}

static bool ignored(const char *rules, const char *path, bool folder)
{
	struct ignore *ig = ignore_create();

	ignore_push(ig, "");
	ignore_add(ig, rules, strlen(rules));
	bool is = ignore_match(ig, path, folder);
	ignore_destroy(ig);
	return is;
}

static void rules(void)
{
	OK(ignored("x\n", "a/b/x", false), "a rule without slash holds at any depth");
	OK(!ignored("/x\n", "a/x", false), "a slash in front binds it to its folder");
	OK(!ignored("a/x\n", "b/a/x", false), "a slash within does, too");
	OK(ignored("x/\n", "a/x", true) && !ignored("x/\n", "a/x", false),
	   "a slash behind means folders only");
	OK(!ignored("*.o\n!keep.o\n", "keep.o", false), "the last matching rule decides");
	OK(ignored("!keep.o\n*.o\n", "keep.o", false), "whatever stands before it");
	OK(!ignored("# x\n\n", "# x", false), "comments are none");
	OK(ignored("\\#x\n", "#x", false) && ignored("\\!x\n", "!x", false),
	   "a backslash makes # and ! plain");
	OK(ignored("x  \n", "x", false) && ignored("x\\ \n", "x ", false),
	   "spaces behind do not count unless escaped");
	OK(ignored("x\r\n", "x", false) && ignored("\xef\xbb\xbfx", "x", false),
	   "line ends of Windows, byte order mark, no last newline");

	struct ignore *ig = ignore_create();
	ignore_push(ig, "");
	ignore_add(ig, "*.log\n", 6);
	ignore_push(ig, "a");
	ignore_add(ig, "!/keep.log\n", 11);
	OK(!ignore_match(ig, "a/keep.log", false) &&
		   ignore_match(ig, "a/b/keep.log", false),
	   "an inner file stands above an outer one, and counts from its own folder");
	ignore_pop(ig);
	OK(ignore_match(ig, "a/keep.log", false), "only as long as one is in it");
	ignore_destroy(ig);
}

int main(void)
{
	patterns();
	cost();
	rules();
	return END();
}
