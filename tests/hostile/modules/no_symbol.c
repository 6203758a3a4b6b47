/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared object that is no module: it exports something else. */
#include "policies/abi/tidelab_policy.h"

extern TL_EXPORT const int not_a_module;
const int not_a_module = 1;
