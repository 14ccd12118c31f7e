// SPDX-License-Identifier: Apache-2.0
/* metrics_inside.h - what metrics.c reads and metrics_write.c tells. */
#pragma once

#include "stream/board.h"
#include "stream/log_metric.h"
#include "stream/metric_set.h"

struct metrics {
	struct metric_set set;
	struct board **boards;
	size_t board_count, board_cap;
	struct log_metric *patterns;
	size_t pattern_count, pattern_cap;
	struct log_source **sources;
	size_t source_count, source_cap;
};
