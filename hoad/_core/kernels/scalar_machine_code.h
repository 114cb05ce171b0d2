/* The code of scalar_bytecode.h as machine code: the same operations in the same order, each rounded by itself.

Every operation of x86-64 that is used has its bytes here, from the vector extensions (AVX), whose result has a register
of its own. Numbers stay in the registers of the processor for as long as there are enough: what is read by this code
alone is written to memory only where it has to leave its register. Elsewhere, and where the system refuses memory that
can be run, bytecode is interpreted. */

#ifndef HOAD_SCALAR_MACHINE_CODE_H
#define HOAD_SCALAR_MACHINE_CODE_H

#include "executable_memory.h"
#include "machine_code.h"
#include "scalar_bytecode.h"

#if HAS_MACHINE_CODE

enum {
    REGISTERS = 15,             /* for numbers; the sixteenth is for what is between two operations */
    BETWEEN = 15,
    MOST_CARRIED = 10,          /* numbers that wait for the next step of a loop in registers */
    MOST_BYTES = 240,           /* of an operation: a call, before which all registers are written to memory */
    FURTHEST = 1 << 28          /* numbers that an offset of 32 bits reaches */
};

enum { LOAD = 0x10, STORE = 0x11, MOVE = 0x28, ROOT = 0x51, AND = 0x54, XOR = 0x57, PLUS = 0x58, TIMES = 0x59, MINUS = 0x5c, OVER = 0x5e };
enum { PACKED = 1, SCALAR = 3 };        /* the prefix of an operation: on pairs of doubles, on one */

typedef struct {
    uint8_t* at;
    int32_t holds[REGISTERS];   /* the number that is in a register, or -1 */
    uint32_t since[REGISTERS];  /* when it was last read or made */
    uint8_t is_saved[REGISTERS];
    uint32_t now;
    int32_t pointer;            /* the register of the workspace whose address is in rax, or -1 */
    int32_t* uses;              /* of each number: how often it is still read */
} Assembler;

static void byte(Assembler* s, int value) { *s->at++ = (uint8_t)value; }

static void bytes(Assembler* s, const void* code, size_t count)
{
    memcpy(s->at, code, count);
    s->at += count;
}

static void bytes4(Assembler* s, int32_t value) { bytes(s, &value, 4); }

/* The beginning of an operation, up to the byte that names what is read last: `b` if it is a register, or 0. */
static void operation(Assembler* s, int prefix, int name, int out, int a, int b)
{
    if (b < 8) {
        byte(s, 0xc5);
        byte(s, (out < 8) << 7 | (~a & 15) << 3 | prefix);
    } else {
        byte(s, 0xc4);
        byte(s, (out < 8) << 7 | 0x41);
        byte(s, (~a & 15) << 3 | prefix);
    }
    byte(s, name);
}

static void on_registers(Assembler* s, int prefix, int name, int out, int a, int b)
{
    operation(s, prefix, name, out, a, b);
    byte(s, 0xc0 | (out & 7) << 3 | (b & 7));
}

/* The byte that names memory `offset` numbers behind an address: in rax (0) or rbx (3). */
static void place(Assembler* s, int out, int base, int32_t offset)
{
    int is_short = offset >= -16 && offset < 16;
    byte(s, (is_short ? 0x40 : 0x80) | (out & 7) << 3 | base);
    if (is_short)
        byte(s, offset * 8);
    else
        bytes4(s, offset * 8);
}

static void on_memory(Assembler* s, int name, int out, int a, int32_t number)
{
    operation(s, SCALAR, name, out, a, 0);
    place(s, out, 3, number);
}

static void move(Assembler* s, int out, int from)
{
    if (out != from)
        on_registers(s, PACKED, MOVE, out, 0, from);
}

static int register_of(const Assembler* s, int32_t number)
{
    int r;
    for (r = 0; r < REGISTERS; r++)
        if (s->holds[r] == number)
            return r;
    return -1;
}

/* Nothing is known to be in any register. */
static void forget(Assembler* s)
{
    int r;
    for (r = 0; r < REGISTERS; r++)
        s->holds[r] = -1;
    s->pointer = -1;
}

static void save(Assembler* s, int r)
{
    if (s->holds[r] >= 0 && !s->is_saved[r] && s->uses[s->holds[r]] > 0)
        on_memory(s, STORE, r, 0, s->holds[r]);
    s->is_saved[r] = 1;
}

/* A register that may be written to, but `kept`: of what is not read any more, else of what was not for the longest. */
static int free_register(Assembler* s, int kept)
{
    int r, found = -1;
    for (r = 0; r < REGISTERS; r++) {
        if (r == kept)
            continue;
        if (s->holds[r] < 0 || s->uses[s->holds[r]] == 0)
            return r;
        if (found < 0 || s->since[r] < s->since[found])
            found = r;
    }
    save(s, found);
    return found;
}

static void hold(Assembler* s, int r, int32_t number, int is_saved)
{
    s->holds[r] = number;
    s->is_saved[r] = (uint8_t)is_saved;
    s->since[r] = ++s->now;
}

/* The register of an operand that is read now; -1 where it is best read from memory, unless it `must` be in one. */
static int operand(Assembler* s, int32_t number, int kept, int must)
{
    int r = register_of(s, number);
    s->uses[number]--;
    if (r < 0) {
        if (!must && s->uses[number] == 0)
            return -1;
        r = free_register(s, kept);
        on_memory(s, LOAD, r, 0, number);
        hold(s, r, number, 1);
    }
    s->since[r] = ++s->now;
    return r;
}

/* out = a `name` b, where b may be in memory. */
static void apply(Assembler* s, int name, int out, int a, int b, int32_t number)
{
    if (b < 0)
        on_memory(s, name, out, a, number);
    else if (b >= 8 && a < 8 && (name == PLUS || name == TIMES))
        on_registers(s, SCALAR, name, out, b, a);       /* shorter */
    else
        on_registers(s, SCALAR, name, out, a, b);
}

/* The result of a word, in register r. */
static void give_result(Assembler* s, int r, int32_t number, int is_local)
{
    int old = register_of(s, number);
    if (old >= 0)
        s->holds[old] = -1;
    hold(s, r, number, !is_local);
    if (!is_local)
        on_memory(s, STORE, r, 0, number);
}

/* A word of two or three operands, its second operation (or 0) after its first; `turned` where that is z - (x `first` y). */
static void arithmetic(Assembler* s, const int32_t* c, int first, int second, int turned, int is_local)
{
    int32_t x = c[2], y = c[3];
    int a, b, out, z;
    if (register_of(s, x) < 0 && register_of(s, y) >= 0 && (first == PLUS || first == TIMES)) {
        x = c[3];
        y = c[2];
    }
    a = operand(s, x, -1, 1);
    b = operand(s, y, a, 0);
    if (!second) {
        out = free_register(s, -1);
        apply(s, first, out, a, b, y);
    } else {
        apply(s, first, BETWEEN, a, b, y);
        z = operand(s, c[4], -1, turned);
        out = free_register(s, -1);
        if (turned)
            on_registers(s, SCALAR, second, out, z, BETWEEN);
        else
            apply(s, second, out, BETWEEN, z, c[4]);
    }
    give_result(s, out, c[1], is_local);
}

static void of_one(Assembler* s, const int32_t* c, int is_local)
{
    int a = operand(s, c[2], -1, 1);
    int out = free_register(s, -1);
    int way = c[0] == S_NEGATIVE ? 6 : 2;       /* to the left, to the right */
    if (c[0] == S_SQUARE || c[0] == S_SQRT) {
        on_registers(s, SCALAR, c[0] == S_SQRT ? ROOT : TIMES, out, a, a);
    } else {
        on_registers(s, PACKED, 0x76, BETWEEN, BETWEEN, BETWEEN);       /* all bits, */
        operation(s, PACKED, 0x73, way, BETWEEN, BETWEEN);              /* shifted to the sign alone, or off it */
        byte(s, 0xc0 | way << 3 | (BETWEEN & 7));
        byte(s, c[0] == S_NEGATIVE ? 63 : 1);
        on_registers(s, PACKED, c[0] == S_NEGATIVE ? XOR : AND, out, a, BETWEEN);
    }
    give_result(s, out, c[1], is_local);
}

static void item(Assembler* s, const int32_t* c, int is_local)
{
    int out = free_register(s, -1);
    if (s->pointer != c[2]) {
        byte(s, 0x48);
        byte(s, 0x8b);
        place(s, 0, 3, c[2]);
        s->pointer = c[2];
    }
    operation(s, SCALAR, LOAD, out, 0, 0);
    place(s, out, 0, c[3]);
    give_result(s, out, c[1], is_local);
}

static void call(Assembler* s, const int32_t* c, void* const* functions, int is_local)
{
    int arity = c[0] == S_CALL1 ? 1 : 2;
    int a, b, r;
    a = operand(s, c[2], -1, 1);
    b = arity == 2 ? operand(s, c[3], a, 1) : -1;
    for (r = 0; r < REGISTERS; r++)
        save(s, r);
    if (b >= 0) {
        move(s, BETWEEN, a);
        move(s, 1, b);
        a = BETWEEN;
    }
    move(s, 0, a);
    byte(s, 0x48);
    byte(s, 0xb8);
    bytes(s, &functions[c[arity + 2]], 8);
    byte(s, 0xff);
    byte(s, 0xd0);
    forget(s);
    give_result(s, 0, c[1], is_local);
}

/* How many words of memory a word of bytecode takes. */
static int length_of(int32_t what)
{
    if (what <= S_DIVIDE)
        return 4;
    if (what <= S_SQRT)
        return 3;
    return what == S_ITEM || what == S_CALL1 ? 4 : 5;
}

/* All operations; where `locals` is NULL, nothing else reads what any of them makes. */
static void translate(Assembler* s, const int32_t* c, const uint8_t* locals, void* const* functions)
{
    static const int names[] = {PLUS, MINUS, TIMES};
    int what, k, is_local;
    for (; *c != S_END; c += length_of(*c)) {
        what = *c;
        is_local = locals ? *locals++ : 1;
        if (what <= S_DIVIDE) {
            arithmetic(s, c, what == S_DIVIDE ? OVER : names[what - S_ADD], 0, 0, is_local);
        } else if (what <= S_SQRT) {
            of_one(s, c, is_local);
        } else if (what < S_ITEM) {
            k = (what - S_ADD_ADD) % 4;         /* added, subtracted, subtracted from, multiplied */
            arithmetic(s, c, names[(what - S_ADD_ADD) / 4], k == 3 ? TIMES : k ? MINUS : PLUS, k == 2, is_local);
        } else if (what == S_ITEM) {
            item(s, c, is_local);
        } else {
            call(s, c, functions, is_local);
        }
    }
}

/* Count what each number is read by; the highest number, or -1 where one is out of reach. */
static int64_t count_uses(const int32_t* c, int32_t* uses)
{
    int64_t highest = 0;
    int k, last;
    for (; *c != S_END; c += length_of(*c)) {
        last = length_of(*c) - (*c >= S_ITEM);
        for (k = 1; k < length_of(*c); k++)
            if (c[k] >= FURTHEST)
                return -1;
        for (k = 1; k < last; k++) {
            if (c[k] > highest)
                highest = c[k];
            if (uses && k > 1 && *c != S_ITEM)
                uses[c[k]]++;
        }
    }
    return highest;
}

/* Memory for so many operations, which can be written to; 0 where there is none, or where a number is out of reach. */
static int begin(Assembler* s, const int32_t* code, size_t operations, int32_t numbers, size_t* nbytes)
{
    int64_t highest = count_uses(code, NULL);
    if (highest < 0 || numbers >= FURTHEST || !__builtin_cpu_supports("avx"))
        return 0;
    s->uses = (int32_t*)calloc((size_t)(highest < numbers ? numbers : highest) + 1, sizeof(int32_t));
    if (!s->uses)
        return 0;
    *nbytes = operations * MOST_BYTES + PAGE;
    s->at = writable_memory(nbytes);
    if (!s->at) {
        free(s->uses);
        return 0;
    }
    count_uses(code, s->uses);
    s->now = 0;
    forget(s);
    return 1;
}

static void* end(Assembler* s, uint8_t* memory, size_t* nbytes)
{
    free(s->uses);
    return executable_memory(memory, s->at, nbytes);
}

/* Machine code for so many operations, or NULL; its bytes in memory. */
static MachineCode machine_code(const int32_t* code, int32_t operations, const uint8_t* locals, void* const* functions,
                                size_t* nbytes)
{
    Assembler s;
    uint8_t* memory;
    if (!begin(&s, code, (size_t)operations, 0, nbytes))
        return NULL;
    memory = s.at;
    bytes(&s, "\x53\x48\x89\xfb", 4);         /* push rbx; mov rbx, rdi */
    translate(&s, code, locals, functions);
    bytes(&s, "\x5b\xc3", 2);                 /* pop rbx; ret */
    return (MachineCode)end(&s, memory, nbytes);
}

/* ---- loops */

/* rax: where pointer k of the operands (r12) or results (rbp) points. */
static void point(Assembler* s, int of_operand, int32_t k)
{
    bytes(s, of_operand ? "\x49\x8b\x84\x24" : "\x48\x8b\x85", of_operand ? 4 : 3);
    bytes4(s, k * 8);
    s->pointer = -1;
}

/* Load or store row r13 of what rax points to. */
static void row(Assembler* s, int name, int r)
{
    byte(s, 0xc4);
    byte(s, (r < 8) << 7 | 0x21);
    byte(s, 0x7b);
    byte(s, name);
    byte(s, (r & 7) << 3 | 4);
    byte(s, 0xe8);
}

static void add_to_sum(Assembler* s, int r)
{
    operation(s, SCALAR, LOAD, BETWEEN, 0, 0);
    place(s, BETWEEN, 0, 0);
    on_registers(s, SCALAR, PLUS, BETWEEN, BETWEEN, r);
    operation(s, SCALAR, STORE, BETWEEN, 0, 0);
    place(s, BETWEEN, 0, 0);
}

/* Put moves in an order in which none overwrites what a later one reads; 0 where there is none. */
static int order_moves(LoopMove* moves, int32_t n)
{
    LoopMove move;
    int32_t done, i, k;
    for (done = 0; done < n; done++) {
        for (i = done; i < n; i++) {
            for (k = done; k < n && (k == i || moves[k].number != moves[i].at); k++)
                ;
            if (k == n)
                break;
        }
        if (i == n)
            return 0;
        move = moves[i];
        moves[i] = moves[done];
        moves[done] = move;
    }
    return 1;
}

/* Put the numbers of registers `from` into the first n registers, all at once. */
static void move_all(Assembler* s, int* from, int n)
{
    int i, k, left = n;
    while (left > 0) {
        for (i = 0; i < n; i++) {
            if (from[i] < 0)
                continue;
            for (k = 0; k < n && (k == i || from[k] != i); k++)
                ;
            if (k == n)
                break;
        }
        if (i == n) {                   /* each is still read by another */
            for (i = 0; from[i] < 0; i++)
                ;
            move(s, BETWEEN, i);
            for (k = 0; k < n; k++)
                if (from[k] == i)
                    from[k] = BETWEEN;
        }
        move(s, i, from[i]);
        from[i] = -1;
        left--;
    }
}

/* What is carried, in the first registers, as it is at the beginning of a step. */
static void hold_carried(Assembler* s, const LoopForm* form)
{
    int32_t i;
    forget(s);
    for (i = 0; i < form->n_carried; i++)
        hold(s, i, form->carried[i].at, 0);
}

/* Let what a step carries out be what the next one carries in. */
static void carry(Assembler* s, const LoopForm* form)
{
    int from[MOST_CARRIED];
    int32_t i;
    for (i = 0; i < form->n_carried; i++) {
        from[i] = register_of(s, form->carried[i].number);
        if (from[i] >= 0)
            s->since[from[i]] = ++s->now;
    }
    for (i = 0; i < form->n_carried; i++)
        if (from[i] < 0) {
            from[i] = free_register(s, -1);
            on_memory(s, LOAD, from[i], 0, form->carried[i].number);
            hold(s, from[i], form->carried[i].number, 1);
        }
    move_all(s, from, form->n_carried);
    hold_carried(s, form);
}

static void translate_step(Assembler* s, const int32_t* code, void* const* functions, const LoopForm* form,
                           int in_registers)
{
    int32_t i;
    int r;
    for (i = 0; i < form->n_rows; i++) {
        r = free_register(s, -1);
        point(s, 1, form->rows[i].at);
        row(s, LOAD, r);
        give_result(s, r, form->rows[i].number, 1);
    }
    translate(s, code, NULL, functions);
    for (i = 0; i < form->n_results; i++) {
        r = operand(s, form->results[i].number, -1, 1);
        point(s, 0, form->results[i].at);
        if (form->results[i].is_sum)
            add_to_sum(s, r);
        else
            row(s, STORE, r);
    }
    if (form->end >= 0) {
        r = operand(s, form->end, -1, 1);
        on_memory(s, STORE, r, 0, form->end);       /* where the caller looks for it */
    }
    if (in_registers)
        carry(s, form);
    for (i = 0; !in_registers && i < form->n_carried; i++) {
        r = operand(s, form->carried[i].number, -1, 1);
        on_memory(s, STORE, r, 0, form->carried[i].at);
    }
    bytes(s, "\x4d\x01\xf5\x49\xff\xcf", 6);    /* add r13, r14; dec r15 */
}

/* A loop of so many operations as machine code, or NULL; its bytes in memory. */
static MachineLoop machine_loop(const int32_t* code, int32_t operations, void* const* functions, const LoopForm* form,
                                int32_t numbers, size_t* nbytes)
{
    static const char enter[] =
        "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57\x48\x83\xec\x08"   /* push rbx, rbp, r12 to r15; sub rsp, 8 */
        "\x48\x89\xfb\x49\x89\xf4\x48\x89\xd5"                       /* mov rbx, rdi; mov r12, rsi; mov rbp, rdx */
        "\x49\x89\xcd\x4d\x89\xc6\x4d\x89\xcf";                      /* mov r13, rcx; mov r14, r8; mov r15, r9 */
    static const char leave[] =
        "\x4c\x89\xf8\x48\x83\xc4\x08"                               /* mov rax, r15; add rsp, 8 */
        "\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3";              /* pop r15 to r12, rbp, rbx; ret */
    Assembler s;
    uint8_t *memory, *head, *out = NULL;
    int32_t i, distance;
    int in_registers = form->n_carried <= MOST_CARRIED;
    size_t most = (size_t)operations + (size_t)form->n_rows + (size_t)form->n_results + (size_t)form->n_carried;
    if (!(in_registers || order_moves(form->carried, form->n_carried)) || !begin(&s, code, most, numbers, nbytes))
        return NULL;
    memory = s.at;
    for (i = 0; i < form->n_results; i++)
        s.uses[form->results[i].number]++;
    for (i = 0; i < form->n_carried; i++)
        s.uses[form->carried[i].number]++;
    if (form->end >= 0)
        s.uses[form->end]++;
    bytes(&s, enter, sizeof enter - 1);
    if (in_registers)
        hold_carried(&s, form);
    for (i = 0; in_registers && i < form->n_carried; i++)
        on_memory(&s, LOAD, i, 0, form->carried[i].at);
    head = s.at;
    translate_step(&s, code, functions, form, in_registers);
    if (form->end >= 0) {
        on_registers(&s, PACKED, XOR, BETWEEN, BETWEEN, BETWEEN);
        operation(&s, PACKED, 0x2e, BETWEEN, 0, 0);             /* compared with 0 */
        place(&s, BETWEEN, 3, form->end);
        bytes(&s, "\x0f\x84", 2);             /* je */
        out = s.at;
        bytes4(&s, 0);
    }
    bytes(&s, "\x4d\x85\xff\x0f\x85", 5);     /* test r15, r15; jne */
    bytes4(&s, (int32_t)(head - s.at) - 4);
    if (out) {
        distance = (int32_t)(s.at - out) - 4;
        memcpy(out, &distance, 4);
    }
    for (i = 0; in_registers && i < form->n_carried; i++)
        on_memory(&s, STORE, i, 0, form->carried[i].at);
    bytes(&s, leave, sizeof leave - 1);
    return (MachineLoop)end(&s, memory, nbytes);
}

#else

#define machine_code(code, operations, locals, functions, nbytes) NULL
#define machine_loop(code, operations, functions, form, numbers, nbytes) NULL

#endif
#endif
