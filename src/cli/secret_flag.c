// SPDX-License-Identifier: Apache-2.0
#include "cli/secret_flag.h"

#include <string.h>

#include "base/mem.h"

int secret_flag_items(struct json *j, const char *key, const struct opts_list *list,
		      struct err *err)
{
	json_array(j, key);
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i];
		size_t n = strcspn(text, "=:");
		AUTO_FREE char *name = mem_strndup(text, n);
		/* "group/vision/hf-token" is the group's. */
		char *slash = strrchr(name, '/');

		if (n == 0 || !text[n] || !text[n + 1])
			return err_set(err, ERR_INVALID,
				       "--secret '%s': write NAME=VARIABLE or NAME:/PATH",
				       text);
		json_object(j, NULL);
		json_str(j, "name", slash ? slash + 1 : name);
		json_str(j, text[n] == '=' ? "env" : "file", text + n + 1);
		if (slash)
			json_strn(j, "from", name, (size_t)(slash - name));
		json_end(j);
	}
	json_end(j);
	return 0;
}

int secret_flag_write(struct json *j, const struct opts_list *list, struct err *err)
{
	return list->count ? secret_flag_items(j, "secrets", list, err) : 0;
}
