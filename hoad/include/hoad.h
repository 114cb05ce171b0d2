/* Programs of hoad, called from C. What is called, and with what, Program.address() of Python says as numbers. */
#ifndef HOAD_H
#define HOAD_H

/* What a call returns. Where it is not HOAD_OK, nothing was written to the outputs. */
enum {
    HOAD_OK = 0,
    HOAD_BRANCH = 1,   /* the function would have taken another branch than where it was recorded */
    HOAD_SINGULAR = 2, /* a matrix was exactly singular */
    HOAD_PYTHON = 3    /* Python raised an exception: Address.error has it */
};

/* Address.call. All numbers of all inputs one after another, and those of the outputs; they must not overlap. */
typedef int (*hoad_call_t)(void *program, const double *inputs, double *outputs);

/* Address.ode, of a program of (t, y): ydot = f(t, y). */
typedef int (*hoad_ode_t)(double t, const double *y, double *ydot, void *program);

#endif
