// SPDX-License-Identifier: Apache-2.0
/* config.h - the daemon's settings from all their places: file, environment, flags. */
#pragma once

#include "base/err.h"
#include "wire/settings.h"

enum opts_result config_read(struct settings *s, int argc, char *const *argv,
			     struct err *err);
