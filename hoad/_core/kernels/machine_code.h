/* What machine code is called as, and the form of a loop that is made into it. */

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

#endif
