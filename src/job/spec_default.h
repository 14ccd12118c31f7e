// SPDX-License-Identifier: Apache-2.0
/* spec_default.h - defaults and bounds of a spec's fields: the check, the schema and the
 * documentation all take them from here. */
#pragma once

#include <stdint.h>

#define SPEC_CPU_MILLI      1000
#define SPEC_MEMORY_BYTES   (INT64_C(1) << 30)
#define SPEC_GRACE_MS       INT64_C(30000)
#define SPEC_GRACE_MAX_MS   INT64_C(300000)
#define SPEC_BACKOFF_MS     INT64_C(10000)
#define SPEC_BACKOFF_MAX_MS INT64_C(600000)

#define SPEC_ROLE_NAME_MAX    40 /* with job and index it must fit a host name */
#define SPEC_CPU_MILLI_MAX    INT64_C(1000000000)
#define SPEC_MEMORY_BYTES_MIN (INT64_C(1) << 20)
#define SPEC_MEMORY_BYTES_MAX (INT64_C(1) << 50) /* times SPEC_TASKS_MAX still fits */
#define SPEC_GRACE_MS_MAX     (INT64_C(24) * 3600 * 1000)
#define SPEC_LIMIT_MS_MAX     (INT64_C(3650) * 24 * 3600 * 1000)
#define SPEC_RETRY_MAX        1000
#define SPEC_PORT_MIN         1024 /* below: not for tasks */
#define SPEC_PORT_MAX         65535
#define SPEC_ARG_BYTES_MAX    (128 << 10) /* what Linux takes as one argument or variable */
#define SPEC_LIST_MAX         256         /* inputs, outputs, services, dependencies */
#define SPEC_PAIRS_MAX        2048        /* labels, variables, hyperparameters */
#define SPEC_PATTERN_MAX      1024        /* bytes of a metric's pattern */
#define SPEC_REQUIREMENT_MAX  1024        /* bytes of a line for pip */
#define SPEC_NESTING_MAX      8           /* of a hyperparameter's value */
