// SPDX-License-Identifier: Apache-2.0
/* Words for shells, tried with real ones. */
#include "contract/quote.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static const char *const shells[] = { "/bin/sh", "/bin/bash" };

static uint32_t random_state = 1;

static uint32_t rnd(uint32_t below)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % below;
}

/* What the line writes to stdout, with ARGS in the environment; the exit code behind it. */
static char *run(const char *shell, const char *line, const char *args)
{
	AUTO_FREE char *var = str_printf("ARGS=%s", args);
	char *env[] = { var, (char[]){ "PATH=/usr/bin:/bin" }, NULL };
	char *argv[] = { (char *)(uintptr_t)shell, (char[]){ "-c" },
			 (char *)(uintptr_t)line, NULL };
	struct buf out = { 0 };
	int pipes[2], status = 0;
	char data[4096];
	ssize_t n;
	pid_t pid;

	if (pipe(pipes) < 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(pipes[1], 1);
		dup2(null, 2);
		close_range(3, ~0u, 0);
		alarm(5); /* a line that waits for ever */
		execve(shell, argv, env);
		_exit(99);
	}
	close(pipes[1]);
	while ((n = read(pipes[0], data, sizeof data)) > 0)
		buf_add(&out, data, (size_t)n);
	close(pipes[0]);
	waitpid(pid, &status, 0);
	for (size_t i = 0; i < out.len; i++) /* what printf put between arguments */
		if (!out.data[i])
			out.data[i] = '\1';
	buf_printf(&out, "[%d]", WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	return buf_take(&out);
}

static char *expanded(const char *line, const char *args)
{
	struct buf out = { 0 };

	quote_expand(line, "ARGS", args, &out);
	return buf_take(&out);
}

/* A value of characters that mean something to somebody. */
static void nasty(char *out, size_t most)
{
	static const char *const bits[] = {
		" ", "\t", "\n", "'",  "\"", "\\", "$",     "`",    "$(touch canary)",
		";", "&",  "|",  "<",  ">",  "(",  ")",     "*",    "?",
		"[", "]",  "{",  "}",  "~",  "#",  "!",     "=",    "%",
		"-", "--", "a",  "B7", "/",  ".",  "$HOME", "${x}", "`touch canary`",
		"é", "数", "..", ",",  ":",  "@",  "\\n",   "$'x'", "; touch canary;",
	};
	size_t count = rnd(8);

	*out = 0;
	for (size_t i = 0; i < count; i++) {
		const char *bit = bits[rnd(COUNT_OF(bits))];
		if (strlen(out) + strlen(bit) < most)
			strcat(out, bit);
	}
}

/* "python $ARGS": each value arrives as it is, as one argument of a real program. */
static void values_arrive(void)
{
	static const char *const lines[] = {
		"exec env printf '%s\\0' $ARGS",
		"true && env printf '%s\\0' ${ARGS}",
		"x=1; env printf '%s\\0' $ARGS; exit 0",
		"(env printf '%s\\0' $ARGS)",
		"# a comment with $ARGS\nenv printf '%s\\0' \\\n  $ARGS\n",
		"if true; then env printf '%s\\0' $ARGS; fi",
		"printf '%s\\0' \"a b\" >/dev/null; env printf '%s\\0' $ARGS | cat",
		"for a in $ARGS; do env printf '%s\\0' \"$a\"; done",
		"set -- $ARGS; env printf '%s\\0' \"$@\"",
	};
	int wrong = 0, rounds = 0;

	for (int round = 0; round < 270; round++) {
		AUTO_BUF struct buf args = { 0 };
		AUTO_BUF struct buf want = { 0 };
		const char *line = lines[round % (int)COUNT_OF(lines)];
		size_t count = 1 + rnd(4);

		for (size_t i = 0; i < count; i++) {
			char value[128];
			nasty(value, sizeof value);
			buf_adds(&args, i ? " " : "");
			quote_word(value, &args);
			buf_printf(&want, "%s\1", value);
		}
		buf_adds(&want, "[0]");
		AUTO_FREE char *text = expanded(line, buf_str(&args));
		AUTO_FREE char *got = run(shells[round % 2], text, buf_str(&args));
		rounds++;
		if (strcmp(got, buf_str(&want)) != 0 && wrong++ < 3)
			printf("# %s\n# got  %s\n# want %s\n", text, got, buf_str(&want));
	}
	IS_INT(wrong, 0, "any value arrives whole, in %d lines of real shells", rounds);
}

/* With plain words an expansion is the same as what is put in its place: so any line must
 * do the same before and after.  A place where a word is not just a word would show. */
static void lines_mean_the_same(void)
{
	static const char *const bits[] = {
		"$ARGS",
		"${ARGS}",
		" $ARGS ",
		" ${ARGS} ",
		"\"$ARGS\"",
		"'$ARGS'",
		"\\$ARGS",
		"`echo $ARGS`",
		"$(echo $ARGS)",
		"\"$(echo \"$ARGS\")\"",
		"x=$ARGS",
		"${ARGS:-y}",
		"${x:-$ARGS}",
		"# $ARGS",
		"\n",
		" ",
		";",
		" && ",
		" || ",
		" | cat",
		"echo ",
		"printf '%s,' ",
		"true",
		"eval echo ",
		"case $ARGS in *) echo c;; esac",
		"[[ -n $ARGS ]] && echo t",
		"(( 1 ))",
		"$((1 + 1))",
		"cat <<E\n$ARGS\nE\n",
		"cat <<'E'\n$ARGS\nE\n",
		"{ echo $ARGS; }",
		"( echo $ARGS )",
		"if true; then echo $ARGS; fi",
		"f() { echo $ARGS; }; f",
		"for a in $ARGS; do echo $a; done",
		"$'a'",
		"\"",
		"'",
		"\\",

		"a$ARGS",
		"$ARGS'b'",
		"echo $x",
		"$ARGSX",
		"${#ARGS}",
		"cat <<<$ARGS",
		"> /dev/null",
		"2>&1",
		"local a=$ARGS",
		"export b=$ARGS; echo $b",
		"trap 'echo $ARGS' EXIT",
	};
	int differ = 0, fine = 0;

	for (int round = 0; round < 1200; round++) {
		char line[1024] = "";
		size_t count = 1 + rnd(7);
		for (size_t i = 0; i < count; i++) {
			const char *bit = bits[rnd(COUNT_OF(bits))];
			if (strlen(line) + strlen(bit) + 8 < sizeof line) {
				if (rnd(3) == 0)
					strcat(line, i && rnd(2) ? "; echo " : " echo ");
				strcat(line, bit);
			}
		}
		AUTO_FREE char *text = expanded(line, "--a 1 --b c");
		if (strcmp(text, line) == 0)
			continue; /* nothing to try */
		AUTO_FREE char *before = run(shells[round % 2], line, "--a 1 --b c");
		AUTO_FREE char *after = run(shells[round % 2], text, "--a 1 --b c");
		fine += str_ends(before, "[0]");
		if (strcmp(before, after) != 0 && differ++ < 3)
			printf("# <<%s>>\n# became <<%s>>\n# before %s\n# after  %s\n",
			       line, text, before, after);
	}
	IS_INT(differ, 0, "lines mean what they meant");
	OK(fine > 30, "many of which were right shell (%d)", fine);
}

/* And with values that would do something, were they ever read as more than a value, no
 * line of any kind makes them do it. */
static void nothing_gets_out(void)
{
	static const char *const bits[] = {
		"eval echo ",
		" $ARGS ",
		" ${ARGS} ",
		"\"$ARGS\"",
		"\"a $(echo \"b $ARGS \")\"",
		"`echo $ARGS`",
		"\"`echo \" $ARGS \"`\"",
		"# $ARGS\n",
		"cat <<E\n$ARGS\nE\n",
		"$(( $ARGS ))",
		"${x:- $ARGS }",
		"\"${x:- $ARGS }\"",
		"'",
		"\"",
		"\\",
		"\n",
		";",
		" echo ",
		"$(",
		")",
		"`",
		"<<E",
		"\nE\n",
		"${",
		"}",
		"((",
		"))",
		"[[ ",
		" ]]",
		"case ",
	};
	static const char args[] =
		"--x '; touch canary;' '$(touch canary)' '`touch canary`' 'a\ntouch canary\n'";
	int out = 0;

	for (int round = 0; round < 500; round++) {
		char line[1024] = "true ";
		size_t count = 2 + rnd(8);
		for (size_t i = 0; i < count; i++)
			strcat(line, bits[rnd(COUNT_OF(bits))]);
		AUTO_FREE char *text = expanded(line, args);
		if (strcmp(text, line) == 0)
			continue;
		AUTO_FREE char *got = run(shells[round % 2], text, args);
		if (access("canary", F_OK) == 0 && out++ < 3)
			printf("# <<%s>>\n# became <<%s>>\n", line, text);
		unlink("canary");
	}
	IS_INT(out, 0, "no value is ever read as more than a value");
}

static void words(void)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{ "32", "32" },
		{ "1e-4", "1e-4" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "it's", "'it'\\''s'" },
		{ "/a/b.c:d,e+f=g@h%i", "/a/b.c:d,e+f=g@h%i" },
		{ "~", "'~'" },
		{ "*", "'*'" },
		{ "\n", "'\n'" },
		{ "\xc3\xa9", "'\xc3\xa9'" },
	};

	for (size_t i = 0; i < COUNT_OF(table); i++) {
		AUTO_BUF struct buf out = { 0 };
		quote_word(table[i].text, &out);
		IS(buf_str(&out), table[i].want, "word %zu is quoted where it must be",
		   i);
	}
}

static void left_alone(void)
{
	static const char *const lines[] = {
		"x \"$ARGS\"",
		"x '$ARGS'",
		"x \\$ARGS",
		"x `y $ARGS`",
		"x ${y:- $ARGS }",
		"eval x $ARGS",
		"x; eval y $ARGS",
		"y=$ARGS x",
		"x a$ARGS",
		"x $ARGS/y",
		"x $ARGSX",
		"x ${ARGS}y",
		"# x $ARGS",
		"x <<E\n $ARGS \nE",
		"x $(( $ARGS ))",
		"case $ARGS in esac",
		"[[ -n $ARGS ]]",
		"x $'a' $ARGS",
		"$ARGS",
		"x ${ARGS:-1} $ARGS",
		"x \"$(y \" $ARGS \")\"",
		"x $ARGS_2",
		"x ${#ARGS}",
	};

	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		AUTO_FREE char *text = expanded(lines[i], "'1'");
		OK(strcmp(text, lines[i]) == 0, "line %zu is left to the shell", i);
	}
}

static void shell_lines(void)
{
	static const struct {
		const char *argv[6];
		size_t want;
	} table[] = {
		{ { "sh", "-c", "x" }, 2 },
		{ { "/bin/bash", "-lc", "x" }, 2 },
		{ { "/bin/sh", "-e", "-c", "x", "name" }, 3 },
		{ { "bash", "--login", "-c", "x" }, 3 },
		{ { "sh", "script.sh", "-c", "x" }, 0 },
		{ { "python", "-c", "x" }, 0 },
		{ { "sh", "-c" }, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(table); i++) {
		size_t argc = 0;
		while (argc < 6 && table[i].argv[argc])
			argc++;
		IS_INT(quote_shell_line((char *const *)(uintptr_t)table[i].argv, argc),
		       (int)table[i].want, "the line of %s %s", table[i].argv[0],
		       table[i].argv[1]);
	}
}

/* Lines of chance write files of any name. */
static void remove_all(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/yard-quote.XXXXXX";

	if (argc > 1) /* another seed */
		random_state = (uint32_t)strtoul(argv[1], NULL, 10);
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return 1;
	words();
	shell_lines();
	left_alone();
	values_arrive();
	lines_mean_the_same();
	nothing_gets_out();
	remove_all(folder);
	return END();
}
