// SPDX-License-Identifier: Apache-2.0
/* units.h - sizes, cores, durations and times as people write and read them.
 *
 * Reading is exact (no floats): "1.5Gi" is 1610612736 bytes; what cannot be held in
 * the unit is rounded down.  -1: not such a value, negative, or too large.  Formats
 * take times as values; nothing here looks at a clock.
 */
#pragma once

#include <stdint.h>

#define UNITS_TEXT_MAX 72 /* room for every format below, whatever the number */

/* "512", "512Mi", "512MiB", "1.5G", "2 GB": K M G T P are powers of 1000, Ki… of 1024. */
int units_bytes(const char *text, int64_t *bytes);
/* "2", "0.5", "500m": thousandths of a core. */
int units_cpu(const char *text, int64_t *milli);
/* "90s", "1.5h", "1h30m", "2d", "250ms", "1w"; a bare number is seconds. */
int units_duration(const char *text, int64_t *ms);

/* For people: "512 MiB", "1.5 GiB", "17 B". */
const char *units_show_bytes(int64_t bytes, char out[UNITS_TEXT_MAX]);
/* "0.5", "2", "0.125". Also what units_cpu reads back. */
const char *units_show_cpu(int64_t milli, char out[UNITS_TEXT_MAX]);
/* The two greatest parts: "2d 3h", "1h 30m", "45s", "1.250s" below ten seconds, "250ms". */
const char *units_show_duration(int64_t ms, char out[UNITS_TEXT_MAX]);
/* One part, for columns: "5s", "3m", "2h", "4d". */
const char *units_show_age(int64_t ms, char out[UNITS_TEXT_MAX]);
/* "2026-11-15T21:53:17.042Z" of milliseconds since 1970. */
const char *units_show_time(int64_t unix_ms, char out[UNITS_TEXT_MAX]);

/* To be read back exactly: "512Mi", "90s", "1500ms". */
const char *units_write_bytes(int64_t bytes, char out[UNITS_TEXT_MAX]);
const char *units_write_duration(int64_t ms, char out[UNITS_TEXT_MAX]);
