/* Arithmetic on the rows of a block as machine code: all operations on eight coordinates (four, with AVX2), then on the
next ones, so that what is between two operations stays in registers of the processor. The last ones, if they are fewer,
are done by the same operations, under a mask: beyond the end no array is read, and neither arrays nor rows are written.

The same operations in the same order as by kernels, each rounded by itself. Numbers that no register can keep wait on
the stack, 64 bytes each, where a block of each would not stay in the first cache. */

#ifndef HOAD_BLOCK_MACHINE_CODE_H
#define HOAD_BLOCK_MACHINE_CODE_H

#include "executable_memory.h"
#include "machine_code.h"

#if HAS_MACHINE_CODE

enum { MOST_REGISTERS = 30, BYTES_EACH = 200 };
enum { ARRAYS = 7, ROWS = 6, WORKSPACE = 2, DONE = 8, POINTER = 9, STACK = 4, NO_INDEX = -1 };  /* rdi, rsi, rdx, r8, r9, rsp */
enum {
    LOAD = 0x10, STORE = 0x11, MOVE = 0x28, ROOT = 0x51, AND = 0x54, AND_NOT = 0x55, OR = 0x56, XOR = 0x57, PLUS = 0x58,
    TIMES = 0x59, MINUS = 0x5c, LEAST = 0x5d, OVER = 0x5e, GREATEST = 0x5f, COMPARE = 0xc2,
    BROADCAST = 0x19, BLEND = 0x65, BLEND_BY = 0x4b, LOAD_BY = 0x2d, STORE_BY = 0x2f
};
enum { IS_EQUAL = 0, IS_NAN = 3, IS_OTHER = 4, IS_OTHER_NUMBER = 12, IS_LESS = 17, IS_LESS_EQUAL = 18, IS_GREATER_EQUAL = 29,
       IS_GREATER = 30 };       /* predicates; IS_OTHER: or nan */
enum { BY_K1 = 1, BY_K2 = 2, ELSE_ZERO = 0x80 };
enum { NEVER = 0x7fffffff };

typedef struct {                /* what an operation reads last: a register, or memory */
    int is_register, r;
    int base, index, is_one;    /* one number for all lanes */
    int32_t offset;
} Last;

typedef struct {
    uint8_t* at;
    int is_wide;                /* AVX-512: registers of eight numbers, 32 of them */
    int registers;              /* but those behind, for what is between operations: two, and with AVX2 a mask */
    int is_last;                /* the last coordinates, which k2 or that mask holds */
    int mask;                   /* of the next operation, with AVX-512 */
    int32_t holds[MOST_REGISTERS];
    const BlockValue* values;
    int32_t* next;              /* when each value is read again */
    int32_t* where;             /* the register of each, or -1 */
    uint8_t* is_saved;
    int32_t reading[3];         /* what the operation at hand reads, and must not leave */
    int32_t constants;          /* where the sign of a number lies on the stack, and behind it 1 */
} BlockAssembler;

static void byte(BlockAssembler* s, int value) { *s->at++ = (uint8_t)value; }

static void bytes(BlockAssembler* s, const void* code, size_t count)
{
    memcpy(s->at, code, count);
    s->at += count;
}

static void bytes4(BlockAssembler* s, int32_t value)
{
    bytes(s, &value, 4);
}

static void memory_operand(BlockAssembler* s, int out, const Last* b)
{
    int unit = !s->is_wide ? 1 : b->is_one ? 8 : 64;    /* of a short offset */
    int is_short = b->offset % unit == 0 && b->offset / unit >= -128 && b->offset / unit < 128;
    int has_index = b->index != NO_INDEX || b->base == STACK;
    byte(s, (is_short ? 0x40 : 0x80) | (out & 7) << 3 | (has_index ? 4 : b->base & 7));
    if (has_index)
        byte(s, (b->index == NO_INDEX ? 4 : b->index & 7) << 3 | (b->base & 7));
    if (is_short)
        byte(s, b->offset / unit);
    else
        bytes4(s, b->offset);
}

/* out = a `name` b on packed doubles; `map` is 1, or 2 where the name has a byte more. */
static void operation(BlockAssembler* s, int map, int name, int out, int a, const Last* b)
{
    int low = b->is_register ? b->r : b->base;
    int high = b->is_register ? b->r >> 1 : b->index == NO_INDEX ? 0 : b->index;        /* its bit 8 is what is asked */
    int bits = (~out & 8) << 4 | (~high & 8) << 3 | (~low & 8) << 2 | map;
    if (s->is_wide) {
        byte(s, 0x62);
        byte(s, bits | (~out & 16));
        byte(s, 0x80 | (~a & 15) << 3 | 5);
        byte(s, 0x40 | s->mask | (!b->is_register && b->is_one && name != BROADCAST) << 4 | (~a & 16) >> 1);
        s->mask = 0;
    } else {
        byte(s, 0xc4);
        byte(s, bits);
        byte(s, (~a & 15) << 3 | 5);
    }
    byte(s, name);
    if (b->is_register)
        byte(s, 0xc0 | (out & 7) << 3 | (b->r & 7));
    else
        memory_operand(s, out, b);
}

static Last in_register(int r)
{
    Last b = {1, r, 0, NO_INDEX, 0, 0};
    return b;
}

static Last in_memory(int base, int index, int32_t offset)
{
    Last b = {0, 0, base, index, 0, offset};
    return b;
}

static Last in_array(BlockAssembler* s, int32_t k, int is_one)
{
    Last b = in_memory(POINTER, is_one ? NO_INDEX : DONE, 0);
    b.is_one = is_one;
    byte(s, 0x4c);              /* mov r9, [rdi + 8 k] */
    byte(s, 0x8b);
    byte(s, 0x8f);
    bytes4(s, 8 * k);
    return b;
}

/* Where a value lies in memory. */
static Last place(BlockAssembler* s, int32_t value)
{
    const BlockValue* v = &s->values[value];
    Last b;
    if (v->home == IN_ARRAY || v->home == IS_ITEM)
        return in_array(s, v->at, v->home == IS_ITEM);
    if (v->home == IS_SLOT) {
        b = in_memory(WORKSPACE, NO_INDEX, 8 * v->at);
        b.is_one = 1;
        return b;
    }
    if (v->home == IN_ROW || v->row >= 0)
        return in_memory(ROWS, DONE, 8 * (v->home == IN_ROW ? v->at : v->row));
    return v->array >= 0 ? in_array(s, v->array, 0) : in_memory(STACK, NO_INDEX, 64 * v->at);
}

/* Rows are longer than the coordinates, but later instructions may read what rows hold beyond the last one. */
static int is_masked(const BlockAssembler* s, const Last* b, int is_written)
{
    return s->is_last && !b->is_register && !b->is_one && (b->base == POINTER || (is_written && b->base == ROWS));
}

/* Load or store a register. */
static void on_memory(BlockAssembler* s, int name, int r, const Last* b)
{
    if (!is_masked(s, b, name == STORE)) {
        operation(s, name == BROADCAST ? 2 : 1, name, r, 0, b);
    } else if (s->is_wide) {
        s->mask = name == LOAD ? BY_K2 | ELSE_ZERO : BY_K2;
        operation(s, 1, name, r, 0, b);
    } else {
        operation(s, 2, name == LOAD ? LOAD_BY : STORE_BY, r, s->registers + 2, b);
    }
}

static void load(BlockAssembler* s, int r, const Last* b) { on_memory(s, b->is_one ? BROADCAST : LOAD, r, b); }

/* A register that may be written to: an empty one, else that of what is read last. */
static int free_register(BlockAssembler* s)
{
    int r, found = -1;
    Last waiting;
    int32_t value;
    for (r = 0; r < s->registers; r++) {
        value = s->holds[r];
        if (value < 0)
            return r;
        if (value != s->reading[0] && value != s->reading[1] && value != s->reading[2] &&
            (found < 0 || s->next[value] > s->next[s->holds[found]]))
            found = r;
    }
    value = s->holds[found];
    if (s->values[value].home == IS_MADE && !s->is_saved[value]) {
        waiting = place(s, value);
        on_memory(s, STORE, found, &waiting);
        s->is_saved[value] = 1;
    }
    s->where[value] = -1;
    return found;
}

static void hold(BlockAssembler* s, int r, int32_t value)
{
    s->holds[r] = value;
    s->where[value] = r;
}

/* A value as the last operand: from memory where it is not read again, unless it `must` be in a register. */
static Last operand(BlockAssembler* s, int32_t value, int must)
{
    Last from;
    int r = s->where[value];
    if (r < 0) {
        from = place(s, value);
        if (!must && !is_masked(s, &from, 0) && (from.is_one ? s->is_wide : s->next[value] == NEVER))
            return from;
        r = free_register(s);
        load(s, r, &from);
        hold(s, r, value);
    }
    return in_register(r);
}

/* Operand k has been read; its register is free where nothing reads it again. */
static void finish(BlockAssembler* s, int k)
{
    int32_t value = s->reading[k];
    s->reading[k] = -1;
    if (value >= 0 && s->next[value] == NEVER && s->where[value] >= 0 && value != s->reading[1] &&
        value != s->reading[2]) {
        s->holds[s->where[value]] = -1;
        s->where[value] = -1;
    }
}

static int name_of(int word)
{
    return word == ADD ? PLUS : word == MULTIPLY ? TIMES : word == DIVIDE ? OVER : MINUS;
}

/* The result of an operation is in register r. */
static void give_result(BlockAssembler* s, int r, int32_t value)
{
    const BlockValue* v = &s->values[value];
    Last to;
    if (v->row >= 0) {
        to = in_memory(ROWS, DONE, 8 * v->row);
        on_memory(s, STORE, r, &to);
    }
    if (v->array >= 0) {
        to = in_array(s, v->array, 0);
        on_memory(s, STORE, r, &to);
    }
    s->is_saved[value] = v->row >= 0 || v->array >= 0;
    if (s->next[value] != NEVER)
        hold(s, r, value);
}

static void on_registers(BlockAssembler* s, int name, int out, int a, int b)
{
    Last last = in_register(b);
    operation(s, 1, name, out, a, &last);
}

static void load_constant(BlockAssembler* s, int r, int k)
{
    Last from = in_memory(STACK, NO_INDEX, s->constants + 8 * k);
    from.is_one = 1;
    load(s, r, &from);
}

static void load_signs(BlockAssembler* s, int r) { load_constant(s, r, 0); }
static void load_one(BlockAssembler* s, int r) { load_constant(s, r, 1); }

/* Note where a predicate holds: in k1, or as all bits of the first register between. */
static void compare(BlockAssembler* s, int predicate, int x, int y)
{
    on_registers(s, COMPARE, s->is_wide ? 1 : s->registers, x, y);
    byte(s, predicate);
}

static void compare_with_zero(BlockAssembler* s, int predicate, int x)
{
    int zero = s->registers;
    on_registers(s, XOR, zero, zero, zero);
    compare(s, predicate, x, zero);
}

/* out = x where it holds, else 0. */
static void keep(BlockAssembler* s, int out, int x)
{
    if (s->is_wide) {
        s->mask = BY_K1 | ELSE_ZERO;
        on_registers(s, MOVE, out, 0, x);
    } else {
        on_registers(s, AND, out, s->registers, x);
    }
}

/* out = x where it holds, else z. */
static void choose(BlockAssembler* s, int out, int x, int z)
{
    Last chosen = in_register(x);
    s->mask = s->is_wide ? BY_K1 : 0;
    operation(s, s->is_wide ? 2 : 3, s->is_wide ? BLEND : BLEND_BY, out, z, &chosen);
    if (!s->is_wide)
        byte(s, s->registers << 4);
}

static void on_one(BlockAssembler* s, int word, int out, int x)
{
    int between = s->registers, other = between + 1;
    switch (word) {
    case TAKE:
        on_registers(s, MOVE, out, 0, x);
        break;
    case ADD_TO_ZERO:
        on_registers(s, XOR, between, between, between);
        on_registers(s, PLUS, out, between, x);
        break;
    case NEGATE:
        load_signs(s, between);
        on_registers(s, XOR, out, between, x);
        break;
    case ABSOLUTE:
        load_signs(s, between);
        on_registers(s, AND_NOT, out, between, x);
        break;
    case SQUARE_ROOT:
        on_registers(s, ROOT, out, 0, x);
        break;
    case RECIPROCAL:
        load_one(s, between);
        on_registers(s, OVER, out, between, x);
        break;
    default:                                    /* the sign: 1 with that of x, but x - x of zeros and nan */
        load_signs(s, other);
        on_registers(s, AND, other, other, x);
        load_one(s, between);
        on_registers(s, OR, other, between, other);
        compare_with_zero(s, IS_OTHER_NUMBER, x);
        on_registers(s, MINUS, out, x, x);
        choose(s, out, other, out);
    }
}

static void on_two(BlockAssembler* s, int word, int out, int x, int y)
{
    static const int predicates[] = {IS_LESS, IS_LESS_EQUAL, IS_GREATER, IS_GREATER_EQUAL, IS_EQUAL, IS_OTHER};
    int other = s->registers + 1;
    if (word <= NOT_EQUAL) {
        compare(s, predicates[word - LESS], x, y);
        load_one(s, other);
        keep(s, out, other);
    } else if (word <= MINIMUM) {               /* the first of equal ones, and nan wherever it is */
        on_registers(s, word == MAXIMUM ? GREATEST : LEAST, other, y, x);
        compare(s, IS_NAN, y, y);
        choose(s, out, y, other);
    } else if (word == MASK) {
        compare_with_zero(s, IS_OTHER, x);
        keep(s, out, y);
    } else {                                    /* 0 where x is, whatever y is */
        on_registers(s, word == STRONG_MULTIPLY ? TIMES : OVER, other, x, y);
        compare_with_zero(s, IS_OTHER, x);
        keep(s, out, other);
    }
}

static void translate(BlockAssembler* s, const BlockOperation* c, const int32_t* later)
{
    int between = s->registers, first = name_of(c->first), is_swapped, out, r, k;
    int32_t read[3] = {c->a, c->b, c->c};
    Last a, b = in_register(0), z = in_register(0);
    for (k = 0; k < 3; k++) {
        s->reading[k] = read[k];
        if (read[k] >= 0)
            s->next[read[k]] = later[k];
    }
    is_swapped = (c->first == ADD || c->first == MULTIPLY) && s->where[c->a] < 0 && s->where[c->b] >= 0;
    a = operand(s, is_swapped ? c->b : c->a, 1);
    if (c->b >= 0)
        b = operand(s, is_swapped ? c->a : c->b, c->first > DIVIDE);
    if (c->first == SELECT)
        z = operand(s, c->c, 1);
    if (c->then != NOTHING)
        operation(s, 1, first, between, a.r, &b);
    finish(s, 0);
    finish(s, 1);
    if (c->then != NOTHING)
        z = operand(s, c->c, c->then == SUBTRACT_FROM);
    finish(s, 2);
    out = free_register(s);
    if (c->first == SELECT) {                   /* a where b is not 0, else c */
        compare_with_zero(s, IS_OTHER, b.r);
        choose(s, out, a.r, z.r);
    } else if (c->first > SIGN) {
        on_two(s, c->first, out, a.r, b.r);
    } else if (c->first > DIVIDE) {
        on_one(s, c->first, out, a.r);
    } else if (c->then == NOTHING) {
        operation(s, 1, first, out, a.r, &b);
    } else {
        r = between;
        if (c->then == SUBTRACT_FROM) {
            r = z.r;
            z = in_register(between);
        }
        operation(s, 1, name_of(c->then), out, r, &z);
    }
    s->holds[out] = -1;
    give_result(s, out, c->out);
}

/* Note when what each operation reads is read again, and each value for the first time. */
static void find_next(const BlockOperation* code, int32_t n, int32_t n_values, int32_t* next, int32_t* later)
{
    int32_t i;
    int k;
    for (i = 0; i < n_values; i++)
        next[i] = NEVER;
    for (i = n - 1; i >= 0; i--) {
        int32_t read[3] = {code[i].a, code[i].b, code[i].c};
        for (k = 0; k < 3; k++)
            later[3 * i + k] = read[k] >= 0 ? next[read[k]] : NEVER;
        for (k = 0; k < 3; k++)
            if (read[k] >= 0)
                next[read[k]] = i;
    }
}

/* Translate all operations, with empty registers at first; `tables` takes what find_next() notes. */
static void translate_all(BlockAssembler* s, const BlockOperation* code, int32_t n, int32_t n_values, int32_t* tables)
{
    int32_t i;
    int r;
    s->next = tables + 3 * (size_t)n;
    s->where = s->next + n_values;
    s->is_saved = (uint8_t*)(s->where + n_values);
    find_next(code, n, n_values, s->next, tables);
    for (r = 0; r < s->registers; r++)
        s->holds[r] = -1;
    for (i = 0; i < n_values; i++) {
        s->where[i] = -1;
        s->is_saved[i] = 0;
    }
    for (i = 0; i < n; i++)
        translate(s, &code[i], tables + 3 * (size_t)i);
}

static void enter(BlockAssembler* s, int32_t waiting)
{
    static const uint64_t all = ~(uint64_t)0;
    const uint64_t constants[] = {0x8000000000000000u, 0x3ff0000000000000u, all, all, all, all, 0, 0, 0, 0};
    int k;
    bytes(s, "\x55\x48\x89\xe5\x48\x81\xec", 7);                /* push rbp; mov rbp, rsp; sub rsp, */
    bytes4(s, 64 * waiting + 192);
    bytes(s, "\x48\x83\xe4\xc0", 4);                            /* and rsp, -64 */
    s->constants = 64 * waiting;
    for (k = 0; k < (s->is_wide ? 2 : 10); k++) {               /* the others are a table of masks */
        bytes(s, "\x48\xb8", 2);                                /* mov rax, */
        bytes(s, &constants[k], 8);
        bytes(s, "\x48\x89\x84\x24", 4);                        /* mov [rsp + ], rax */
        bytes4(s, s->constants + 8 * k);
    }
    bytes(s, "\x4d\x31\xc0\x49\x89\xca\x49\x83\xe2", 9);        /* xor r8, r8; mov r10, rcx; and r10, */
    byte(s, s->is_wide ? -64 : -32);
}

/* A jump of 32 bits; where its distance stands. */
static uint8_t* jump(BlockAssembler* s, const char* code, size_t count)
{
    bytes(s, code, count);
    bytes4(s, 0);
    return s->at - 4;
}

static void land(uint8_t* jump_from, const uint8_t* target)
{
    int32_t distance = (int32_t)(target - jump_from) - 4;
    memcpy(jump_from, &distance, 4);
}

/* The mask of the last coordinates, which are left from byte r8 to byte rcx. */
static void make_mask(BlockAssembler* s)
{
    Last table = in_memory(0, NO_INDEX, s->constants + 16 + 32);
    bytes(s, "\x4c\x29\xc1", 3);                                /* sub rcx, r8 */
    if (s->is_wide) {
        bytes(s, "\x48\xc1\xe9\x03\xb8\x01\0\0\0", 9);          /* shr rcx, 3; mov eax, 1 */
        bytes(s, "\xd3\xe0\xff\xc8\xc5\xf8\x92\xd0", 8);        /* shl eax, cl; dec eax; kmovw k2, eax */
    } else {
        bytes(s, "\x48\x89\xe0\x48\x29\xc8", 6);                /* mov rax, rsp; sub rax, rcx */
        operation(s, 1, LOAD, s->registers + 2, 0, &table);
    }
}

/* Machine code for so many operations, or NULL; its bytes in memory. `waiting`: places on the stack. */
static BlockCode block_machine_code(const BlockOperation* code, int32_t n, const BlockValue* values, int32_t n_values,
                                    int32_t waiting, int is_wide, size_t* nbytes)
{
    BlockAssembler s;
    uint8_t *memory, *head, *to_last, *to_end;
    int32_t* tables = (int32_t*)malloc(((size_t)n * 3 + (size_t)n_values * 2) * sizeof(int32_t) + (size_t)n_values);
    *nbytes = (size_t)n * 2 * BYTES_EACH + PAGE;
    memory = tables ? writable_memory(nbytes) : NULL;
    if (!memory) {
        free(tables);
        return NULL;
    }
    s.at = memory;
    s.is_wide = is_wide;
    s.registers = is_wide ? 30 : 13;
    s.values = values;
    s.mask = s.is_last = 0;
    enter(&s, waiting);
    to_last = jump(&s, "\x4d\x85\xd2\x0f\x84", 5);              /* test r10, r10; je */
    head = s.at;
    translate_all(&s, code, n, n_values, tables);
    bytes(&s, "\x49\x83\xc0", 3);                               /* add r8, */
    byte(&s, is_wide ? 64 : 32);
    land(jump(&s, "\x4d\x39\xd0\x0f\x8c", 5), head);            /* cmp r8, r10; jl */
    land(to_last, s.at);
    to_end = jump(&s, "\x49\x39\xc8\x0f\x8d", 5);               /* cmp r8, rcx; jge */
    make_mask(&s);
    s.is_last = 1;
    translate_all(&s, code, n, n_values, tables);
    land(to_end, s.at);
    bytes(&s, "\xc5\xf8\x77\x48\x89\xec\x5d\xc3", 8);           /* vzeroupper; mov rsp, rbp; pop rbp; ret */
    free(tables);
    return (BlockCode)executable_memory(memory, s.at, nbytes);
}

#else

#define block_machine_code(code, n, values, n_values, waiting, is_wide, nbytes) NULL

#endif
#endif
