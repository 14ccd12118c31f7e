// SPDX-License-Identifier: Apache-2.0
/* tensor.h - a tensor that is one number; seen inside this room alone. */
#pragma once

#include "stream/proto.h"

/* 1: one element, of a kind that is a number; 0: anything else; -1: no message. */
int tensor_number(struct proto tensor, double *out);
