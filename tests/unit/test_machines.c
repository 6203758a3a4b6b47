/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/units.h"
#include "tests/unit/test_trace_util.h"
#include "traces/machines.h"

static struct tl_machine *must_read(const char *path, enum tl_machine_format format, size_t *count)
{
	struct tl_machine *machines = NULL;
	struct tl_error error = TL_ERROR_INIT;
	cr_assert_eq(tl_machines_read(path, format, &machines, count, &error), TL_OK, "%s",
	             error.message);
	return machines;
}

Test(machines, openb)
{
	size_t count;
	struct tl_machine *machines =
	    must_read(SAMPLES "machines-openb.csv", TL_MACHINES_OPENB, &count);

	cr_assert_eq(count, 3);
	cr_expect_str_eq(machines[0].name, "n0");
	cr_expect_str_eq(machines[0].model, "");
	cr_expect_eq(machines[0].gpus, 0);
	cr_expect_eq(machines[1].cpu_milli, 96000);
	cr_expect_eq(machines[1].ram_bytes, 384 * TL_GIB);
	cr_expect_eq(machines[1].gpus, 8);
	cr_expect_str_eq(machines[1].model, "G2");
	cr_expect_eq(machines[1].leaf, UINT32_MAX);
	cr_expect_eq(machines[1].pod, UINT32_MAX);
	free(machines);
}

Test(machines, pai)
{
	size_t count;
	struct tl_machine *machines =
	    must_read(SAMPLES "machines-pai.csv", TL_MACHINES_PAI, &count);

	cr_assert_eq(count, 3, "its first line is a machine");
	cr_expect_str_eq(machines[0].name, "m0");
	cr_expect_str_eq(machines[0].model, "");
	cr_expect_eq(machines[0].gpus, 0);
	cr_expect_str_eq(machines[1].model, "P100");
	cr_expect_eq(machines[1].cpu_milli, 64000);
	cr_expect_eq(machines[1].ram_bytes, 512 * TL_GIB);
	cr_expect_eq(machines[1].gpus, 2);
	cr_expect_str_eq(machines[2].model, "MISC");
	free(machines);
}

Test(machines, lingjun)
{
	size_t count;
	struct tl_machine *machines =
	    must_read(SAMPLES "machines-lingjun.csv", TL_MACHINES_LINGJUN, &count);

	cr_assert_eq(count, 4);
	cr_expect_eq(machines[0].gpus, 8);
	cr_expect_str_eq(machines[0].model, "A100");
	cr_expect_eq(machines[0].pod, 0);
	cr_expect_eq(machines[1].leaf, machines[0].leaf);
	cr_expect_eq(machines[2].pod, 1);
	cr_expect_neq(machines[2].leaf, machines[0].leaf, "a leaf's name counts under its spine");
	cr_expect_eq(machines[3].pod, 1);
	free(machines);
}

static void refuse(const char *text, enum tl_machine_format format, long line, const char *part)
{
	struct tl_machine *machines = NULL;
	struct tl_error error = TL_ERROR_INIT;
	size_t count = 0;
	const char *path = write_text_file("machines.csv", text);

	cr_assert_eq(tl_machines_read(path, format, &machines, &count, &error), TL_E_DATA);
	cr_expect_null(machines);
	cr_expect_eq(error.line, line, "line %ld: %s", error.line, error.message);
	cr_expect_not_null(strstr(error.message, part), "%s", error.message);
	unlink(path);
}

#define OPENB "sn,cpu_milli,memory_mib,gpu,model\n"

Test(machines, bad_lists)
{
	refuse(OPENB, TL_MACHINES_OPENB, 1, "got no machine");
	refuse("sn,cpu_milli,memory_mib,gpu\na,1,1,1\n", TL_MACHINES_OPENB, 1,
	       "column `model` is missing");
	refuse(OPENB "a,1,1,1,x\na,1,1,1,x\n", TL_MACHINES_OPENB, 3,
	       "machine name, got `a`, wanted each once");
	refuse(OPENB "a,x,1,1,x\n", TL_MACHINES_OPENB, 2, "CPU, got `x`");
	refuse(OPENB "a,1,-5,1,x\n", TL_MACHINES_OPENB, 2, "memory, got `-5`");
	refuse(OPENB "a,1,1,5000,x\n", TL_MACHINES_OPENB, 2, "GPUs, got `5000`");
	refuse(OPENB "a,1,1\n", TL_MACHINES_OPENB, 2, "GPUs, got ``");
	refuse(OPENB ",1,1,1,x\n", TL_MACHINES_OPENB, 2, "machine name");
	refuse(OPENB "a,1,1,1,a-model-with-a-name-that-is-too-long\n", TL_MACHINES_OPENB, 2,
	       "GPU model");
	refuse("a,CPU,96\n", TL_MACHINES_PAI, 1, "memory, got ``");
	refuse("ip,DSW,PSW,ASW\nh,G,,S\n", TL_MACHINES_LINGJUN, 2, "switch, got ``");
	struct tl_machine *machines;
	size_t count;
	cr_expect_eq(tl_machines_read("traces", TL_MACHINES_PAI, &machines, &count, NULL),
	             TL_E_NOINPUT);
}

Test(machines, names_of_formats)
{
	enum tl_machine_format format;
	cr_assert(tl_machine_format_parse("lingjun", &format));
	cr_expect_eq(format, TL_MACHINES_LINGJUN);
	cr_expect_not(tl_machine_format_parse("aws", &format));
}
