/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/plane/elf.h"

#include "sim/base/file.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define REFUSE(...)                                                                                \
	tl_error_set(error, TL_E_UNAVAILABLE, path, 0, 0, "cannot be loaded: " __VA_ARGS__)

static bool read_at(FILE *file, uint64_t offset, void *out, size_t size)
{
	return offset <= INT32_MAX && fseek(file, (long)offset, SEEK_SET) == 0 &&
	       fread(out, 1, size, file) == size;
}

static bool outside(uint64_t offset, uint64_t length, uint64_t size)
{
	return offset > size || length > size - offset;
}

/* The same class, byte order and machine as the program itself, where that can be read. */
static bool is_ours(const Elf64_Ehdr *head)
{
	Elf64_Ehdr own;
	FILE *file = fopen("/proc/self/exe", "rb");
	bool known = file != NULL && read_at(file, 0, &own, sizeof own);

	if (file != NULL)
		(void)fclose(file);
	return !known ||
	       (own.e_machine == head->e_machine && own.e_ident[EI_DATA] == head->e_ident[EI_DATA]);
}

static enum tl_status check_segments(FILE *file, const Elf64_Ehdr *head, uint64_t size,
                                     const char *path, struct tl_error *error)
{
	bool dynamic = false;

	for (uint64_t i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_at(file, head->e_phoff + i * sizeof segment, &segment, sizeof segment))
			return REFUSE("segment table, got a file cut short, wanted a whole one");
		dynamic = dynamic || segment.p_type == PT_DYNAMIC;
		if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC)
			continue;
		if (outside(segment.p_offset, segment.p_filesz, size) ||
		    segment.p_filesz > segment.p_memsz)
			return REFUSE("segment %u, got one that ends beyond the file's %llu bytes, "
			              "wanted a whole file",
			              (unsigned)i, (unsigned long long)size);
	}
	return dynamic ? TL_OK : REFUSE("got no dynamic segment, wanted a shared object");
}

static enum tl_status check_head(FILE *file, uint64_t size, const char *path,
                                 struct tl_error *error)
{
	Elf64_Ehdr head;

	if (!read_at(file, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return REFUSE("got no ELF file, wanted a shared object");
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || !is_ours(&head))
		return REFUSE("got a file for another kind of machine (class %u, machine %u), "
		              "wanted one for this",
		              head.e_ident[EI_CLASS], head.e_machine);
	if (head.e_type != ET_DYN)
		return REFUSE("got ELF type %u, wanted a shared object (%d)", head.e_type, ET_DYN);
	if (head.e_phentsize != sizeof(Elf64_Phdr) ||
	    outside(head.e_phoff, (uint64_t)head.e_phnum * sizeof(Elf64_Phdr), size) ||
	    outside(head.e_shoff, (uint64_t)head.e_shnum * head.e_shentsize, size))
		return REFUSE("got tables that end beyond the file's %llu bytes, wanted a whole "
		              "file",
		              (unsigned long long)size);
	return check_segments(file, &head, size, path, error);
}

enum tl_status tl_elf_check(const char *path, struct tl_error *error)
{
	FILE *file = NULL;
	enum tl_status status = tl_file_open(path, &file, error);
	struct stat info;

	if (status != TL_OK)
		return status;
	if (fstat(fileno(file), &info) == 0)
		status = check_head(file, (uint64_t)info.st_size, path, error);
	else
		status =
		    tl_error_set(error, TL_E_IO, path, 0, 0, "cannot be read: %s", strerror(errno));
	(void)fclose(file);
	return status;
}
