// SPDX-License-Identifier: Apache-2.0
#include "cli/tls_load.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

const struct tls_calls *tls_load(struct err *err)
{
	static const char *const places[] = { "", "/../libexec/yard" };
	static const struct tls_calls *loaded;
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (loaded)
		return loaded;
	self[n > 0 ? n : 0] = '\0';
	const char *folder = dirname(self);
	for (size_t i = 0; i < COUNT_OF(places) && n > 0 && !loaded; i++) {
		AUTO_FREE char *path = str_printf("%s%s/" TLS_MODULE, folder, places[i]);
		void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		const struct tls_calls *const *calls =
			module ? dlsym(module, "yard_tls_calls") : NULL;
		loaded = calls ? *calls : NULL;
	}
	if (!loaded) {
		const char *why = dlerror();
		err_set(err, ERR_UNSUPPORTED, "TLS cannot be loaded: %s",
			why ? why : TLS_MODULE " is not beside yard");
	}
	return loaded;
}
