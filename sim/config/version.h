/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tool's version: one place. */
#ifndef TIDELAB_CONFIG_VERSION_H
#define TIDELAB_CONFIG_VERSION_H

#define TIDELAB_VERSION "0.1.0"

#endif
