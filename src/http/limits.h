// SPDX-License-Identifier: Apache-2.0
/* limits.h - numbers that handlers and the tables of parameters both state. */
#pragma once

#define LIST_DEFAULT          50
#define LIST_MAX              1000 /* as many as the store gives */
#define EVENTS_MAX            1000
#define FILES_DEFAULT         1000 /* of one page of a folder */
#define FILES_MAX             10000
#define EXEC_ARGS_MAX         250
#define METRIC_NAMES_MAX      32
#define METRIC_POINTS_DEFAULT 500
#define IDEMPOTENCY_KEY_MAX   255
#define FROM_TEXT_MAX         8000 /* of the places of a log; a whole target has 8 KiB */
