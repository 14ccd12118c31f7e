// SPDX-License-Identifier: Apache-2.0
/* plant.h - the yard's own faults, on purpose. */
#pragma once

/* Bugs that the simulation must find (test/sim builds the yard once with each). */
#define PLANT_BOOT    1 /* an effect is not redone at boot */
#define PLANT_ANSWER  2 /* an answer comes before the commit */
#define PLANT_SLOT    3 /* a slot is not given back */
#define PLANT_ARRAY   4 /* members that are alive at boot are made again */
#define PLANT_DOCS    5 /* a commit that is tried again leaves out its documents */
#define PLANT_PREEMPT 6 /* what a job has to give up is given on before it is gone */
#define PLANT_GRACE   7 /* who still writes checkpoints is killed all the same */
#ifndef YARD_PLANT
#define YARD_PLANT 0
#endif
