// SPDX-License-Identifier: Apache-2.0
/* Round numbers along an axis. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "cli/plot.h"

#define ROUND_ROOM 0.3 /* of an axis that may stay empty for the sake of a round end */

/* The least of 1, 2, 5 times a power of ten that is not below. */
static double round_up(double v)
{
	double power = pow(10, floor(log10(v))), part = v / power;

	return power * (part <= 1.0000001   ? 1
			: part <= 2.0000001 ? 2
			: part <= 5.0000001 ? 5
					    : 10);
}

static void add_tick(struct axis *a, double v)
{
	double slack = (a->high - a->low) * 1e-9;

	if (v >= a->low - slack && v <= a->high + slack && a->tick_count < AXIS_TICKS_MAX)
		a->ticks[a->tick_count++] = v;
}

static void place_ticks(struct axis *a)
{
	double first = ceil(a->low / a->spacing - 1e-9);

	a->tick_count = 0;
	for (int i = 0; i < AXIS_TICKS_MAX + 1; i++)
		add_tick(a, (first + i) * a->spacing);
}

/* Powers of ten, every so many; within two of them also 2 and 5 times one. */
static void place_log_ticks(struct axis *a, size_t want)
{
	static const double parts[] = { 1, 2, 5 };
	int from = (int)floor(log10(a->low)), to = (int)ceil(log10(a->high));
	int most = want ? (int)want : 1, every = (to - from + most - 1) / most;
	int steps = to - from <= 2 ? 3 : 1;

	a->tick_count = 0;
	for (int e = from; e <= to && a->tick_count < AXIS_TICKS_MAX;
	     e += every ? every : 1)
		for (int i = 0; i < steps; i++)
			add_tick(a, parts[i] * pow(10, e));
}

void axis_init(struct axis *a, double low, double high, bool log, size_t want)
{
	if (!(high > low)) { /* one value: some room around it */
		double room = low != 0 ? fabs(low) * 0.1 : 1;
		high = log ? low * 2 : low + room;
		low = log ? low / 2 : low - room;
	}
	if (!isfinite(high - low)) { /* what is beyond is drawn at its ends */
		low = fmax(low, -DBL_MAX / 8);
		high = fmin(high, DBL_MAX / 8);
	}
	*a = (struct axis){ .low = low, .high = high, .log = log };
	if (log) {
		place_log_ticks(a, want);
		return;
	}
	a->spacing = round_up((high - low) / (double)(want > 1 ? want - 1 : 1));
	place_ticks(a);
}

void axis_round(struct axis *a)
{
	double room = (a->high - a->low) * ROUND_ROOM;
	double low = floor(a->low / a->spacing + 1e-9) * a->spacing;
	double high = ceil(a->high / a->spacing - 1e-9) * a->spacing;
	struct axis asked = *a;

	if (a->log)
		return;
	a->low = asked.low - low <= room ? low : asked.low;
	a->high = high - asked.high <= room ? high : asked.high;
	place_ticks(a);
	if (a->tick_count > 1)
		return;
	a->low = low;
	a->high = high;
	place_ticks(a);
}

double axis_place(const struct axis *a, double v)
{
	double place = (v - a->low) / (a->high - a->low);

	if (a->log)
		place = (log(v) - log(a->low)) / (log(a->high) - log(a->low));
	return fmin(fmax(place, 0), 1);
}

/* In thousands, millions and so on, from ten thousand upwards. */
static double in_thousands(double v, const char **unit)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	size_t i = 0;

	for (; fabs(v) >= (i ? 1000 : 10000) && i < 4; i++)
		v /= 1000;
	*unit = units[i];
	return v;
}

static bool is_odd_size(double v) /* better told by a power of ten */
{
	return v != 0 && (fabs(v) >= 1e15 || fabs(v) < 1e-4);
}

const char *plot_value(double v, char out[PLOT_TEXT_MAX])
{
	const char *unit = "";

	if (isnan(v) || isinf(v))
		snprintf(out, PLOT_TEXT_MAX, "%s",
			 isnan(v) ? "NaN"
			 : v > 0  ? "inf"
				  : "-inf");
	else if (is_odd_size(v))
		snprintf(out, PLOT_TEXT_MAX, "%.3g", v);
	else {
		v = in_thousands(v, &unit);
		snprintf(out, PLOT_TEXT_MAX, "%.4g%s", v, unit);
	}
	return out;
}

const char *axis_label(const struct axis *a, double v, char out[PLOT_TEXT_MAX])
{
	const char *unit = "";
	double most = fmax(fabs(a->low), fabs(a->high)), spacing = a->spacing;

	if (a->log || is_odd_size(most))
		return plot_value(v, out);
	if (fabs(v) < spacing * 1e-6)
		return snprintf(out, PLOT_TEXT_MAX, "0"), out;
	double scale = v;
	v = in_thousands(v, &unit);
	spacing *= v / scale;
	int digits = (int)ceil(-log10(spacing) - 1e-9);
	snprintf(out, PLOT_TEXT_MAX, "%.*f%s", digits > 0 ? (digits < 9 ? digits : 9) : 0,
		 v, unit);
	return out;
}
