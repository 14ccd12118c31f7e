// SPDX-License-Identifier: Apache-2.0
/* Lists of buckets, as servers write them and as a liar would. */
#include "base/mem.h"
#include "base/str.h"
#include "remote/remote.h"
#include "tap.h"

struct seen {
	struct buf text;
	int count;
};

static int each(void *arg, const char *key, int64_t size, int64_t mtime_ms,
		const char *etag, struct err *err)
{
	struct seen *s = arg;

	if (str_eq(key, "refuse"))
		return err_set(err, ERR_DENIED, "not that one");
	s->count++;
	buf_printf(&s->text, "%s|%lld|%lld|%s;", key, (long long)size,
		   (long long)mtime_ms, etag);
	return 0;
}

static int reads(const char *xml, struct seen *s, struct list_page *p, struct err *err)
{
	*p = (struct list_page){ .each = each, .arg = s };
	*s = (struct seen){ .count = 0 };
	return list_page_read(xml, strlen(xml), p, err);
}

static void good(void)
{
	struct seen s;
	struct list_page p;
	struct err err;

	OK(reads("<?xml version='1.0'?><ListBucketResult xmlns='http://x/'><Name>b</Name>"
		 "<IsTruncated>true</IsTruncated><NextContinuationToken>a+b=</NextContinuationToken>"
		 "<Contents><Key>dir/a%2Bb+c.txt</Key><LastModified>2026-11-16T07:20:07.250Z"
		 "</LastModified><ETag>&quot;abc&quot;</ETag><Size>5</Size><Owner><ID>x</ID></Owner>"
		 "</Contents><EncodingType>url</EncodingType></ListBucketResult>",
		 &s, &p, &err) == 0,
	   "a page is read");
	IS(buf_str(&s.text), "dir/a+b c.txt|5|1794813607250|\"abc\";",
	   "escaped keys, times and tags are what they mean");
	OK(p.truncated && str_eq(p.next, "a+b="), "and where it goes on");
	buf_fini(&s.text);
	list_page_fini(&p);
	OK(reads("<s3:ListBucketResult xmlns:s3='y'><s3:Contents><s3:Key>a%2Bb</s3:Key>"
		 "<s3:Size>1</s3:Size></s3:Contents></s3:ListBucketResult>",
		 &s, &p, &err) == 0,
	   "with a prefix of names");
	IS(buf_str(&s.text), "a%2Bb|1|0|;",
	   "keys that are not said to be escaped are not");
	IS(p.last, "a%2Bb", "the last key is known");
	buf_fini(&s.text);
	list_page_fini(&p);
	OK(reads("<InitiateMultipartUploadResult><UploadId>u-1</UploadId>"
		 "</InitiateMultipartUploadResult>",
		 &s, &p, &err) == 0 &&
		   str_eq(p.upload_id, "u-1"),
	   "an upload's number");
	list_page_fini(&p);
	OK(reads("<Error><Code>InternalError</Code></Error>", &s, &p, &err) == 0 &&
		   p.is_error,
	   "a 200 that is none");
	list_page_fini(&p);
}

static void bad(void)
{
	static const struct {
		const char *law, *xml;
	} rows[] = {
		{ "what is no XML", "{}" },
		{ "nothing", "" },
		{ "what is cut off", "<ListBucketResult><Contents><Key>a</Key>" },
		{ "an entity bomb",
		  "<!DOCTYPE l [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><l>&b;</l>" },
		{ "a file of the machine",
		  "<!DOCTYPE l [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><l>&x;</l>" },
		{ "levels without end",
		  "<a><a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a>"
		  "</a></a></a>" },
		{ "an entry without a size", "<l><Contents><Key>a</Key></Contents></l>" },
		{ "an entry without a key",
		  "<l><Contents><Size>1</Size></Contents></l>" },
		{ "a size that is none",
		  "<l><Contents><Key>a</Key><Size>-1</Size></Contents></l>" },
		{ "a key with a NUL",
		  "<l><EncodingType>url</EncodingType><Contents><Key>a%00b</Key>"
		  "<Size>1</Size></Contents></l>" },
		{ "what its reader refuses",
		  "<l><Contents><Key>refuse</Key><Size>1</Size></Contents></l>" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct seen s;
		struct list_page p;
		struct err err = { .code = ERR_NONE };
		OK(reads(rows[i].xml, &s, &p, &err) < 0 && err.code != ERR_NONE,
		   "refused: %s: %s", rows[i].law, err.text);
		buf_fini(&s.text);
		list_page_fini(&p);
	}
	AUTO_BUF struct buf b = { 0 };
	struct seen s;
	struct list_page p;
	struct err err;
	buf_adds(&b, "<l><Contents><Key>");
	for (int i = 0; i < 20000; i++)
		buf_addc(&b, 'k');
	buf_adds(&b, "</Key><Size>1</Size></Contents></l>");
	OK(reads(b.data, &s, &p, &err) < 0, "refused: a key without end");
	list_page_fini(&p);
}

static void times(void)
{
	OK(list_time("1970-01-01T00:00:00Z") == 0 &&
		   list_time("2000-02-29T12:00:00.000Z") == 951825600000LL,
	   "times are read");
	OK(list_time("2026-11-16T07:20:07.5Z") == 1794813607500LL,
	   "with parts of seconds");
	OK(list_time("yesterday") == 0 && list_time("") == 0 &&
		   list_time("2026-13-01T0:0:0") == 0,
	   "what is none is no time");
}

int main(void)
{
	good();
	bad();
	times();
	return END();
}
