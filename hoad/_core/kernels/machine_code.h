/* What machine code is called as, and the form of loops and of operations on rows that are made into it. */

#ifndef HOAD_MACHINE_CODE_H
#define HOAD_MACHINE_CODE_H

#include <stddef.h>
#include <stdint.h>

typedef void (*MachineCode)(double*);

/* So many steps from a row on, on the rows of operands and results; gives how many are left where one ends the loop. */
typedef int64_t (*MachineLoop)(double*, char* const* operands, char* const* results, int64_t row, int64_t way,
                               int64_t steps);

typedef struct {
    int32_t number;             /* of the workspace: what is made of a row, goes into one, or is carried */
    int32_t at;                 /* the operand or result, or the number that it becomes at the next step */
    int32_t is_sum;             /* added to the result, in place of a row of it */
} LoopMove;

typedef struct {
    LoopMove* rows;
    LoopMove* results;
    LoopMove* carried;
    int32_t n_rows, n_results, n_carried;
    int32_t end;                /* the number that ends the loop where it is 0, or -1 */
} LoopForm;

/* ---- rows of a block */

/* What is done with a, or with a and b, or with all three; and then with that and c, if it is of the first four. */
typedef enum {
    NOTHING, ADD, SUBTRACT, SUBTRACT_FROM, MULTIPLY, DIVIDE,
    TAKE, ADD_TO_ZERO, NEGATE, ABSOLUTE, SQUARE_ROOT, RECIPROCAL, SIGN,
    LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, NOT_EQUAL, MAXIMUM, MINIMUM, MASK, STRONG_MULTIPLY, STRONG_DIVIDE,
    SELECT
} BlockWord;

/* Where a value lies: in a row, in an array of a number for each coordinate, or one for all, in the workspace or an
array; else it is made here. */
typedef enum { IS_MADE, IN_ROW, IN_ARRAY, IS_SLOT, IS_ITEM } BlockHome;

typedef struct {
    int32_t home, at;           /* the number of the row, array or slot; of what is made, where it waits on the stack */
    int32_t row, array;         /* where what is made is written to, or -1; -1 of all else */
} BlockValue;

typedef struct {
    int32_t first, then;        /* words */
    int32_t a, b, c, out;       /* values; -1 where there is none */
} BlockOperation;

/* On so many bytes of each row: rows from the first number of each, addresses of arrays, the workspace. */
typedef void (*BlockCode)(char* const* arrays, double* rows, double* workspace, int64_t nbytes);

#endif
