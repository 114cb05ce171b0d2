/* Single operations on the numbers of a workspace, one after the other.

The code is a row of int32: a word for what to do, the number of the result, those of the operands. Two operations where
the second alone reads the first are one word: what is between them stays in a register of the processor. Each is rounded
by itself, so that results are those of the two. */

#ifndef HOAD_SCALAR_BYTECODE_H
#define HOAD_SCALAR_BYTECODE_H

#include <math.h>
#include <stdint.h>

#if defined(_MSC_VER)
#pragma fp_contract(off)
#endif

/* name, number of operands, formula of x, y, z. */
#define SERIAL_FORMULAS(DO)                                                                      \
    DO(ADD, 2, x + y) DO(SUBTRACT, 2, x - y) DO(MULTIPLY, 2, x * y) DO(DIVIDE, 2, x / y)         \
    DO(NEGATIVE, 1, -x) DO(SQUARE, 1, x * x) DO(ABSOLUTE, 1, fabs(x)) DO(SQRT, 1, sqrt(x))       \
    DO(ADD_ADD, 3, (x + y) + z) DO(ADD_SUBTRACT, 3, (x + y) - z) DO(ADD_FROM, 3, z - (x + y))    \
    DO(ADD_MULTIPLY, 3, (x + y) * z)                                                             \
    DO(SUBTRACT_ADD, 3, (x - y) + z) DO(SUBTRACT_SUBTRACT, 3, (x - y) - z)                       \
    DO(SUBTRACT_FROM, 3, z - (x - y)) DO(SUBTRACT_MULTIPLY, 3, (x - y) * z)                      \
    DO(MULTIPLY_ADD, 3, (x * y) + z) DO(MULTIPLY_SUBTRACT, 3, (x * y) - z)                       \
    DO(MULTIPLY_FROM, 3, z - (x * y)) DO(MULTIPLY_MULTIPLY, 3, (x * y) * z)

typedef enum {
#define WORD(name, operands, formula) S_##name,
    SERIAL_FORMULAS(WORD)
#undef WORD
    S_ITEM,     /* result, register of the array, offset */
    S_CALL1,    /* result, operand, function */
    S_CALL2,    /* result, two operands, function */
    S_END
} SerialWord;

typedef double (*SerialCall1)(double);
typedef double (*SerialCall2)(double, double);

#define X u[c[2]]
#define Y u[c[3]]
#define Z u[c[4]]

#if defined(__GNUC__)
#define CASE(word) at_##word
#define NEXT(words) c += (words); goto *targets[c[0]]
#else
#define CASE(word) case S_##word
#define NEXT(words) c += (words); continue
#endif

static void run_bytecode(const int32_t* c, double* u, void* const* functions)
{
    union { double number; const double* array; } at;
    double x, y, z;
#if defined(__GNUC__)
    static const void* const targets[] = {
#define LABEL(name, operands, formula) &&at_##name,
        SERIAL_FORMULAS(LABEL) &&at_ITEM, &&at_CALL1, &&at_CALL2, &&at_END
#undef LABEL
    };
    goto *targets[c[0]];
#else
    for (;;) switch (c[0]) {
#endif
#define OPERATION(name, operands, formula)            \
    CASE(name):                                       \
        x = X;                                        \
        y = (operands) > 1 ? Y : x;                   \
        z = (operands) > 2 ? Z : y;                   \
        (void)y, (void)z;                             \
        u[c[1]] = (formula);                          \
        NEXT(2 + (operands));
    SERIAL_FORMULAS(OPERATION)
#undef OPERATION
    CASE(ITEM):
        at.number = X;
        u[c[1]] = at.array[c[3]];
        NEXT(4);
    CASE(CALL1):
        u[c[1]] = ((SerialCall1)functions[c[3]])(X);
        NEXT(4);
    CASE(CALL2):
        u[c[1]] = ((SerialCall2)functions[c[4]])(X, Y);
        NEXT(5);
    CASE(END):
        return;
#if !defined(__GNUC__)
    }
#endif
}

#undef X
#undef Y
#undef Z
#undef CASE
#undef NEXT

#endif
