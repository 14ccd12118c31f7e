// SPDX-License-Identifier: Apache-2.0
/* shim.h - the whole program: holds the one task that comes over SHIM_FD to its end. */
#pragma once

int shim_main(
	void); /* the process's exit code: 0 unless it could not even say what is wrong */
