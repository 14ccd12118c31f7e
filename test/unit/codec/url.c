// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "codec/url.h"
#include "tap.h"

static void decodes(const char *text, const char *want)
{
	struct err err;
	char *got = url_decode(text, strlen(text), 0, &err);

	if (want)
		IS(got, want, "'%s' decodes", text);
	else
		OK(!got && err.code == ERR_INVALID, "'%s' is refused", text);
	free(got);
}

int main(void)
{
	struct url_query q = { 0 };
	struct buf b = { 0 };
	struct err err;

	decodes("a%2Fb%20c+d", "a/b c+d");
	decodes("%41%4a%4A", "AJJ");
	decodes("", "");
	decodes("%", NULL);
	decodes("%4", NULL);
	decodes("a%4", NULL);
	decodes("%zz", NULL);
	decodes("%4g", NULL);
	decodes("a%00b", NULL);

	OK(url_query_parse(&q, "a=1&b=x+y%26&&c&a=2&=z", &err) == 0 && q.count == 5,
	   "a query is taken apart");
	IS(url_query_get(&q, "a"), "1", "the first of two");
	IS(url_query_get(&q, "b"), "x y&", "plus is a space, %%26 no separator");
	IS(url_query_get(&q, "c"), "", "a name alone");
	OK(!url_query_get(&q, "d"), "absent is absent");
	url_query_fini(&q);
	OK(url_query_parse(&q, "a=%", &err) < 0 && url_query_parse(&q, "%=a", &err) < 0,
	   "bad escapes are refused");
	url_query_fini(&q);
	for (int i = 0; i <= URL_PARAMS_MAX; i++)
		buf_adds(&b, "a&");
	OK(url_query_parse(&q, buf_str(&b), &err) < 0 && err.code == ERR_TOO_LARGE,
	   "too many are refused");
	url_query_fini(&q);

	buf_clear(&b);
	for (int c = 1; c < 256; c++)
		buf_addc(&b, (char)c);
	struct buf target = { 0 };
	buf_adds(&target, "/p");
	url_query_add(&target, "k", "v");
	url_query_add(&target, "all", buf_str(&b));
	OK(url_query_parse(&q, strchr(target.data, '?') + 1, &err) == 0,
	   "what is written is read back");
	IS(url_query_get(&q, "k"), "v", "the first parameter");
	OK(strcmp(url_query_get(&q, "all"), b.data) == 0, "every byte survives");
	url_query_fini(&q);
	buf_fini(&target);
	buf_fini(&b);
	return END();
}
