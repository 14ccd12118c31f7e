// SPDX-License-Identifier: Apache-2.0
#include "cli/width.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define WRAP_MIN 20 /* cells; narrower than that, lines are harder to read than breaks */

struct range {
	uint32_t first, last;
};

/* Of Unicode's East Asian Width: W and F, in runs; gaps nobody uses are bridged. */
/* clang-format off */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 },   { 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 },   { 0x267f, 0x267f },   { 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab },   { 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },
	{ 0x26d4, 0x26d4 },   { 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },   { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa },   { 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },
	{ 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x274e, 0x274e },   { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },
	{ 0x2b1b, 0x2b1c },   { 0x2b50, 0x2b50 },   { 0x2b55, 0x2b55 },   { 0x2e80, 0x303e },
	{ 0x3041, 0x33ff },   { 0x3400, 0x4dbf },   { 0x4e00, 0xa4cf },   { 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },   { 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x16fe0, 0x18aff }, { 0x1b000, 0x1b2ff },
	{ 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a },
	{ 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 },
	{ 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 },
	{ 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 }, { 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d },
	{ 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 }, { 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 },
	{ 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc },
	{ 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6df }, { 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6fc },
	{ 0x1f7e0, 0x1f7f0 }, { 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x2fffd }, { 0x30000, 0x3fffd },
};
/* Marks that combine, joiners, and what only says how to show its neighbour. */
static const struct range none[] = {
	{ 0x0300, 0x036f },   { 0x0483, 0x0489 },   { 0x0591, 0x05bd },   { 0x05bf, 0x05bf },
	{ 0x05c1, 0x05c2 },   { 0x05c4, 0x05c5 },   { 0x0610, 0x061a },   { 0x064b, 0x065f },
	{ 0x0670, 0x0670 },   { 0x06d6, 0x06dc },   { 0x06df, 0x06e4 },   { 0x06e7, 0x06e8 },
	{ 0x06ea, 0x06ed },   { 0x0900, 0x0902 },   { 0x093a, 0x093a },   { 0x093c, 0x093c },
	{ 0x0941, 0x0948 },   { 0x094d, 0x094d },   { 0x0e31, 0x0e31 },   { 0x0e34, 0x0e3a },
	{ 0x0e47, 0x0e4e },   { 0x1160, 0x11ff },   { 0x1ab0, 0x1aff },   { 0x1dc0, 0x1dff },
	{ 0x200b, 0x200f },   { 0x202a, 0x202e },   { 0x2060, 0x2064 },   { 0x20d0, 0x20ff },
	{ 0x302a, 0x302d },   { 0x3099, 0x309a },   { 0xfe00, 0xfe0f },   { 0xfe20, 0xfe2f },
	{ 0xfeff, 0xfeff },   { 0xe0100, 0xe01ef },
};
/* clang-format on */

static int in(const struct range *list, size_t count, uint32_t point)
{
	size_t lo = 0, hi = count;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (point > list[mid].last)
			lo = mid + 1;
		else if (point < list[mid].first)
			hi = mid;
		else
			return 1;
	}
	return 0;
}

static uint32_t decode(const char *s, size_t bytes)
{
	static const unsigned char lead[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t point = (unsigned char)s[0] & lead[bytes];

	for (size_t i = 1; i < bytes; i++)
		point = point << 6 | ((unsigned char)s[i] & 0x3f);
	return point;
}

size_t width_char(const char *s, size_t len, size_t *bytes)
{
	size_t n = utf8_sequence(s, len);

	*bytes = n ? n : 1;
	if (n < 2)
		return 1;
	uint32_t point = decode(s, n);
	if (in(none, COUNT_OF(none), point))
		return 0;
	return in(wide, COUNT_OF(wide), point) ? 2 : 1;
}

size_t width_of(const char *text)
{
	size_t len = strlen(text), cells = 0, bytes;

	for (size_t i = 0; i < len; i += bytes)
		cells += width_char(text + i, len - i, &bytes);
	return cells;
}

size_t width_cut(struct buf *out, const char *text, size_t cells)
{
	size_t len = strlen(text), taken = 0, bytes;

	if (width_of(text) <= cells) {
		buf_add(out, text, len);
		return width_of(text);
	}
	if (cells == 0)
		return 0;
	for (size_t i = 0; i < len; i += bytes) {
		size_t n = width_char(text + i, len - i, &bytes);
		if (taken + n > cells - 1)
			break;
		buf_add(out, text + i, bytes);
		taken += n;
	}
	buf_adds(out, "\u2026");
	return taken + 1;
}

void width_pad(struct buf *out, size_t cells)
{
	while (cells-- > 0)
		buf_addc(out, ' ');
}

void width_wrap(struct buf *out, const char *text, size_t indent, size_t cells)
{
	size_t at = indent;

	if (cells < indent + WRAP_MIN) {
		buf_adds(out, text);
		return;
	}
	while (*text) {
		size_t gap = strspn(text, " "), len = strcspn(text + gap, " \n");
		AUTO_FREE char *word = mem_strndup(text + gap, len);
		size_t n = width_of(word);
		if (at > indent && at + gap + n > cells) {
			buf_addc(out, '\n');
			width_pad(out, indent);
			at = indent;
			gap = 0;
		}
		width_pad(out, gap);
		buf_add(out, word, len);
		at += gap + n;
		text += strspn(text, " ") + len;
		if (*text == '\n') {
			buf_addc(out, *text++);
			at = 0;
		}
	}
}
