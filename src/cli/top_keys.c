// SPDX-License-Identifier: Apache-2.0
/* top_keys.c - how the model of `yard top` answers to keys. */
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "cli/term.h"
#include "cli/top_view.h"

#define CTRL_C 3
#define ENTER  '\r'
#define DELETE 127
#define BACK   8

static enum top_wish list_key(struct top *t, int key, int rows)
{
	const struct top_job *j = top_selected(t);

	switch (key) {
	case 'q':
	case CTRL_C:
		return TOP_QUIT;
	case 'j':
	case TERM_DOWN:
		top_move(t, 1);
		return TOP_NOTHING;
	case 'k':
	case TERM_UP:
		top_move(t, -1);
		return TOP_NOTHING;
	case TERM_PAGE_DOWN:
		top_move(t, rows / 2);
		return TOP_NOTHING;
	case TERM_PAGE_UP:
		top_move(t, -rows / 2);
		return TOP_NOTHING;
	case 'g':
	case TERM_HOME:
		top_move(t, INT_MIN / 2);
		return TOP_NOTHING;
	case 'G':
	case TERM_END:
		top_move(t, INT_MAX / 2);
		return TOP_NOTHING;
	case ENTER:
	case '\n':
		return j ? TOP_SHOW : TOP_NOTHING;
	case 'l':
		return j ? TOP_LOGS : TOP_NOTHING;
	case 's':
		if (j)
			t->mode = TOP_ASK_STOP;
		return TOP_NOTHING;
	case '/':
		t->mode = TOP_FILTER;
		t->filter[0] = '\0';
		return TOP_NOTHING;
	case TERM_ESCAPE:
		t->filter[0] = '\0';
		top_settle(t);
		return TOP_NOTHING;
	case '?':
	case 'h':
		t->mode = TOP_HELP;
		return TOP_NOTHING;
	case 'r':
		return TOP_REFRESH;
	default:
		return TOP_NOTHING;
	}
}

/* Bytes as they are typed; taken away by whole characters. */
static enum top_wish filter_key(struct top *t, int key)
{
	size_t n = strlen(t->filter);

	if (key == CTRL_C)
		return TOP_QUIT;
	if (key == ENTER || key == '\n' || key == TERM_ESCAPE) {
		if (key == TERM_ESCAPE)
			t->filter[0] = '\0';
		t->mode = TOP_LIST;
	} else if (key == DELETE || key == BACK) {
		while (n > 0 && ((unsigned char)t->filter[n - 1] & 0xc0) == 0x80)
			n--;
		t->filter[n ? n - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 256 && n + 1 < sizeof t->filter) {
		t->filter[n] = (char)key;
		t->filter[n + 1] = '\0';
	}
	top_settle(t);
	return TOP_NOTHING;
}

static enum top_wish page_key(struct top *t, int key, int rows)
{
	int page = rows > 3 ? rows - 3 : 1, by = 0;

	switch (key) {
	case CTRL_C:
		return TOP_QUIT;
	case 'q':
	case TERM_ESCAPE:
		t->mode = TOP_LIST;
		return TOP_REFRESH;
	case 'j':
	case TERM_DOWN:
	case ENTER:
		by = 1;
		break;
	case 'k':
	case TERM_UP:
		by = -1;
		break;
	case ' ':
	case TERM_PAGE_DOWN:
		by = page;
		break;
	case TERM_PAGE_UP:
		by = -page;
		break;
	case 'g':
	case TERM_HOME:
		t->page_scroll = 0;
		break;
	case 'G':
	case TERM_END:
		t->page_scroll = INT_MAX;
		break;
	default:
		break;
	}
	if (by < 0)
		t->page_scroll = t->page_scroll > -by ? t->page_scroll + by : 0;
	else if (t->page_scroll < INT_MAX - by)
		t->page_scroll += by;
	return TOP_NOTHING;
}

enum top_wish top_key(struct top *t, int key, int rows)
{
	free(TAKE(t->message));
	switch (t->mode) {
	case TOP_LIST:
		return list_key(t, key, rows);
	case TOP_FILTER:
		return filter_key(t, key);
	case TOP_PAGE:
		return page_key(t, key, rows);
	case TOP_HELP:
		t->mode = TOP_LIST;
		return key == CTRL_C ? TOP_QUIT : TOP_NOTHING;
	case TOP_ASK_STOP:
		t->mode = TOP_LIST;
		return key == 'y' || key == 'Y' ? TOP_STOP : TOP_NOTHING;
	}
	return TOP_NOTHING;
}
