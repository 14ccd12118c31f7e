// SPDX-License-Identifier: Apache-2.0
/* schema.h - the database's tables, as numbered steps from one version to the next.
 *
 * A step, once released, is never changed: a database in the field has been through it.
 * The number of a database's last step is its PRAGMA user_version.
 */
#pragma once

#define SCHEMA_APPLICATION_ID 0x59415244 /* "YARD" */

extern const char *const schema_steps[]; /* [0] makes version 1 of nothing */
extern const int schema_version;         /* how many there are */
