// SPDX-License-Identifier: Apache-2.0
/* parts.h - the rows of tables.c, each from a file of its own; inside this room only. */
#pragma once

#include "sim/sim.h"

extern const struct sim_rules sim_native;
extern const struct sim_reader sim_read_csv, sim_read_philly, sim_read_swf;

extern const struct sim_rules sim_muri;
extern const struct sim_reader sim_read_muri;

extern const struct sim_rules sim_openb;
extern const struct sim_reader sim_read_openb;
