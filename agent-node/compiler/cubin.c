/* cubin - machine code of one architecture, read safely
 *
 * Every offset is checked against the file before it is followed. Kernels' numbers come from .nv.info:
 * a list of {format u8, attribute u8, …} records, of which only the sized form (4) is of interest.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/cubin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"

enum {
    MACHINE_CUDA = 190,
    ABI_WITH_SM_IN_BYTE_1 = 8, /* CUDA 13; before, the number is in byte 0 of e_flags */
    INFO_SIZED = 4,
    INFO_MIN_STACK = 0x12,
    INFO_REGISTERS = 0x2f
};

typedef struct view {
    const uint8_t *data;
    uint64_t size;
} view;

static const uint8_t *view_at(const view *v, uint64_t offset, uint64_t size)
{
    if (size > v->size || offset > v->size - size)
        return NULL;
    return v->data + offset;
}

static int bad(err *e, const char *what)
{
    return err_set(e, ERR_PROTOCOL, "cubin: %s", what);
}

/* text_at is the terminated string at an offset of a string table, or NULL. */
static const char *text_at(const cubin_section *strings, uint64_t offset)
{
    if (strings->data == NULL || offset >= strings->size)
        return NULL;
    const uint8_t *from = strings->data + offset;
    return memchr(from, '\0', strings->size - offset) != NULL ? (const char *)from : NULL;
}

static int read_header(const view *file, Elf64_Ehdr *h, err *e)
{
    const uint8_t *at = view_at(file, 0, sizeof *h);
    if (at == NULL)
        return bad(e, "shorter than an ELF header");
    memcpy(h, at, sizeof *h);
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != MACHINE_CUDA)
        return bad(e, "no 64-bit CUDA ELF file");
    if (h->e_shentsize != sizeof(Elf64_Shdr))
        return bad(e, "section headers of an unknown size");
    return 0;
}

static uint32_t sm_of(const Elf64_Ehdr *h)
{
    bool late = h->e_ident[EI_ABIVERSION] >= ABI_WITH_SM_IN_BYTE_1;
    return late ? h->e_flags >> 8 & 0xff : h->e_flags & 0xff;
}

static int read_section(const view *file, const Elf64_Shdr *h, cubin_section *out, err *e)
{
    *out = (cubin_section){.type = h->sh_type,
                           .flags = h->sh_flags,
                           .size = h->sh_size,
                           .link = h->sh_link,
                           .info = h->sh_info};
    if (h->sh_type == SHT_NOBITS || h->sh_type == SHT_NULL)
        return 0;
    out->data = view_at(file, h->sh_offset, h->sh_size);
    return out->data != NULL ? 0 : bad(e, "a section lies outside the file");
}

static int read_sections(cubin *self, const view *file, const Elf64_Ehdr *h, err *e)
{
    uint64_t bytes = (uint64_t)h->e_shnum * sizeof(Elf64_Shdr);
    const uint8_t *at = view_at(file, h->e_shoff, bytes);
    if (at == NULL || h->e_shstrndx >= h->e_shnum)
        return bad(e, "the section table lies outside the file");
    self->sections = xcalloc(h->e_shnum, sizeof *self->sections);
    self->section_count = h->e_shnum;
    SCOPED(scoped_free) uint32_t *names = xcalloc(h->e_shnum, sizeof *names);
    for (size_t i = 0; i < h->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, at + i * sizeof section, sizeof section);
        names[i] = section.sh_name;
        if (read_section(file, &section, &self->sections[i], e) != 0)
            return -1;
    }
    for (size_t i = 0; i < h->e_shnum; i++) {
        self->sections[i].name = text_at(&self->sections[h->e_shstrndx], names[i]);
        if (self->sections[i].name == NULL)
            return bad(e, "a section name lies outside its table");
    }
    return 0;
}

static int read_symbols(cubin *self, err *e)
{
    const cubin_section *table = NULL;
    for (size_t i = 0; i < self->section_count; i++)
        if (self->sections[i].type == SHT_SYMTAB)
            table = &self->sections[i];
    if (table == NULL || table->data == NULL || table->link >= self->section_count)
        return bad(e, "no symbol table");
    size_t count = table->size / sizeof(Elf64_Sym);
    if (count > CUBIN_SYMBOL_MAX)
        return err_set(e, ERR_LIMIT, "cubin: %zu symbols, at most %d are read", count,
                       CUBIN_SYMBOL_MAX);
    self->symbols = xcalloc(count, sizeof *self->symbols);
    self->symbol_count = count;
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym s;
        memcpy(&s, table->data + i * sizeof s, sizeof s);
        const char *name = text_at(&self->sections[table->link], s.st_name);
        if (name == NULL)
            return bad(e, "a symbol name lies outside its table");
        self->symbols[i] = (cubin_symbol){.name = name,
                                          .bind = ELF64_ST_BIND(s.st_info),
                                          .type = ELF64_ST_TYPE(s.st_info),
                                          .section = s.st_shndx,
                                          .value = s.st_value,
                                          .size = s.st_size};
    }
    return 0;
}

/* info_value finds {symbol, value} of an attribute in .nv.info; false when it is not there. */
static bool info_value(const cubin *self, uint8_t attribute, size_t symbol, uint32_t *out)
{
    const cubin_section *info = cubin_section_named(self, ".nv.info");
    if (info == NULL || info->data == NULL)
        return false;
    view v = {info->data, info->size};
    for (uint64_t at = 0;;) {
        const uint8_t *head = view_at(&v, at, 4);
        if (head == NULL)
            return false;
        uint64_t size = 0;
        if (head[0] == INFO_SIZED)
            size = (uint64_t)head[2] | (uint64_t)head[3] << 8;
        const uint8_t *body = view_at(&v, at + 4, size);
        if (body == NULL)
            return false;
        uint32_t pair[2];
        if (head[1] == attribute && size == sizeof pair) {
            memcpy(pair, body, sizeof pair);
            if (pair[0] == symbol) {
                *out = pair[1];
                return true;
            }
        }
        at += 4 + size;
    }
}

static void read_kernel(const cubin *self, size_t index, cubin_kernel *out)
{
    const cubin_symbol *symbol = &self->symbols[index];
    const cubin_section *code = &self->sections[symbol->section];
    uint32_t value = 0;
    *out = (cubin_kernel){.name = symbol->name, .registers = code->info >> 24};
    if (info_value(self, INFO_REGISTERS, index, &value))
        out->registers = value;
    if (info_value(self, INFO_MIN_STACK, index, &value))
        out->local_bytes = value;
    SCOPED(scoped_free) char *shared = xasprintf(".nv.shared.%s", symbol->name);
    const cubin_section *memory = cubin_section_named(self, shared);
    if (memory != NULL)
        out->shared_bytes = memory->size;
}

static bool is_kernel(const cubin *self, const cubin_symbol *s)
{
    if (s->type != STT_FUNC || s->bind == STB_LOCAL || s->section == SHN_UNDEF ||
        s->section >= self->section_count)
        return false;
    const char *name = self->sections[s->section].name;
    return strncmp(name, ".text.", 6) == 0 && strcmp(name + 6, s->name) == 0;
}

static void read_kernels(cubin *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->symbol_count; i++)
        count += is_kernel(self, &self->symbols[i]);
    self->kernels = xcalloc(count + 1, sizeof *self->kernels);
    for (size_t i = 0; i < self->symbol_count; i++)
        if (is_kernel(self, &self->symbols[i]))
            read_kernel(self, i, &self->kernels[self->kernel_count++]);
}

cubin *cubin_read(const void *data, size_t size, err *e)
{
    view file = {data, size};
    Elf64_Ehdr header = {0};
    if (read_header(&file, &header, e) != 0)
        return NULL;
    SCOPED(cubin_destroy) cubin *self = xcalloc(1, sizeof *self);
    self->sm = sm_of(&header);
    if (read_sections(self, &file, &header, e) != 0 || read_symbols(self, e) != 0)
        return NULL;
    read_kernels(self);
    return TAKE(self);
}

void cubin_destroy(cubin **self)
{
    if (*self == NULL)
        return;
    free((*self)->sections);
    free((*self)->symbols);
    free((*self)->kernels);
    free(*self);
    *self = NULL;
}

const cubin_kernel *cubin_find_kernel(const cubin *self, const char *name)
{
    for (size_t i = 0; i < self->kernel_count; i++)
        if (strcmp(self->kernels[i].name, name) == 0)
            return &self->kernels[i];
    return NULL;
}

const cubin_section *cubin_section_named(const cubin *self, const char *name)
{
    for (size_t i = 0; i < self->section_count; i++)
        if (strcmp(self->sections[i].name, name) == 0)
            return &self->sections[i];
    return NULL;
}
