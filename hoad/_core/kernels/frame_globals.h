/* Frames of functions that find other values under the names of their globals (PEP 523).

   While a thread adopts, each frame is shown to `prepare` before it is evaluated, which may put other dicts in the place
   of its globals and builtins, and another function, whose closure the frame takes its free variables from. The fields
   are the first ones of the frame in the versions named. */

#ifndef HOAD_FRAME_GLOBALS_H
#define HOAD_FRAME_GLOBALS_H

#include <Python.h>
#include <frameobject.h>
#include "threads.h"

#if PY_VERSION_HEX >= 0x030C0000
typedef struct _PyInterpreterFrame EvaluatedFrame;
typedef struct {
    PyObject* code;             /* from 3.14 on with two bits for its count */
    void* previous;
    PyObject* function;
    PyObject* globals;          /* borrowed, as are the builtins */
    PyObject* builtins;
} FrameFields;
#elif PY_VERSION_HEX >= 0x030B0000
typedef struct _PyInterpreterFrame EvaluatedFrame;
typedef struct {
    PyObject* function;
    PyObject* globals;
    PyObject* builtins;
    PyObject* locals;
    PyObject* code;
} FrameFields;
#else
typedef PyFrameObject EvaluatedFrame;
#endif

#if PY_VERSION_HEX < 0x030C0000
#define PyUnstable_Eval_RequestCodeExtraIndex _PyEval_RequestCodeExtraIndex
#define PyUnstable_Code_GetExtra _PyCode_GetExtra
#define PyUnstable_Code_SetExtra _PyCode_SetExtra
#endif

/* Of one frame: its code, and what `prepare` may change. `function` is NULL where a frame has its variables already, and
   one that is put there belongs to the frame from then on. `calls` says whether frames that this one calls are prepared,
   too, `writes` whether `finish` is to be called with its globals at the end. */
typedef struct {
    PyObject* code;
    PyObject* globals;
    PyObject* builtins;
    PyObject* function;
    PyObject** cells;           /* of its free variables, where it has them already (3.10) */
    int calls;
    int writes;
} FramePlaces;

typedef void (*PrepareFrame)(FramePlaces* places);
typedef void (*FinishFrame)(PyObject* globals);

static THREADS_LOCAL int frame_globals_depth = 0;          /* how often this thread adopts */
static THREADS_LOCAL PyObject* frame_globals_scope = NULL; /* what it adopts; owned */
static int frame_globals_threads = 0;                       /* how often all threads do, under the GIL */
static PrepareFrame frame_globals_prepare = NULL;
static FinishFrame frame_globals_finish = NULL;
static _PyFrameEvalFunction frame_globals_next = NULL;

/* Say what a frame is to have in the place of its globals or builtins; in 3.10 it owns them. */
static void frame_globals_put(PyObject** place, PyObject* value)
{
    if (PY_VERSION_HEX < 0x030B0000 && *place != value)
        Py_INCREF(value);
    *place = value;
}

static void frame_globals_read(EvaluatedFrame* frame, FramePlaces* places)
{
#if PY_VERSION_HEX >= 0x030B0000
    FrameFields* fields = (FrameFields*)frame;
    places->code = (PyObject*)((size_t)fields->code & ~(size_t)3);
    places->function = PY_VERSION_HEX < 0x030E0000 ? (PyObject*)fields->function : NULL;
    places->globals = fields->globals;
    places->builtins = fields->builtins;
    places->cells = NULL;
#else
    places->code = (PyObject*)frame->f_code;
    places->function = NULL;
    places->globals = frame->f_globals;
    places->builtins = frame->f_builtins;
    places->cells = frame->f_localsplus + frame->f_code->co_nlocals + PyTuple_GET_SIZE(frame->f_code->co_cellvars);
#endif
}

static void frame_globals_write(EvaluatedFrame* frame, FramePlaces* places)
{
#if PY_VERSION_HEX >= 0x030B0000
    FrameFields* fields = (FrameFields*)frame;
    fields->globals = places->globals;
    fields->builtins = places->builtins;
#if PY_VERSION_HEX < 0x030E0000
    if (places->function != (PyObject*)fields->function) {
        PyObject* before = (PyObject*)fields->function;
        fields->function = (void*)places->function;
        Py_DECREF(before);
    }
#endif
#else
    if (places->globals != frame->f_globals)
        Py_SETREF(frame->f_globals, places->globals);
    if (places->builtins != frame->f_builtins)
        Py_SETREF(frame->f_builtins, places->builtins);
#endif
}

static PyObject* frame_globals_evaluate(PyThreadState* state, EvaluatedFrame* frame, int raises)
{
    PyObject* result;
    FramePlaces places;
    int inside, depth = frame_globals_depth;
    if (depth == 0 || raises)           /* a generator that an exception is thrown into was prepared when it began */
        return frame_globals_next(state, frame, raises);
    frame_globals_read(frame, &places);
    places.calls = 1;
    places.writes = 0;
    frame_globals_depth = 0;
    frame_globals_prepare(&places);
    frame_globals_depth = inside = places.calls ? depth : 0;
    frame_globals_write(frame, &places);
    result = frame_globals_next(state, frame, raises);
    depth += frame_globals_depth - inside;      /* a generator, or a function that enters a block, may leave it so */
    frame_globals_depth = 0;
    if (places.writes)
        frame_globals_finish(places.globals);
    frame_globals_depth = depth > 0 ? depth : 0;
    return result;
}

/* Adopt in this thread; gives what it adopted before, which the caller owns from then on. */
static PyObject* frame_globals_begin(PyObject* scope)
{
    PyObject* before;
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    if (frame_globals_threads++ == 0 && _PyInterpreterState_GetEvalFrameFunc(interpreter) != frame_globals_evaluate) {
        frame_globals_next = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        _PyInterpreterState_SetEvalFrameFunc(interpreter, frame_globals_evaluate);
    }
    before = frame_globals_scope;
    Py_XINCREF(scope);
    frame_globals_scope = scope;
    frame_globals_depth++;
    return before;
}

static void frame_globals_end(PyObject* before)
{
    PyInterpreterState* interpreter = PyInterpreterState_Get();
    Py_XINCREF(before);
    Py_XSETREF(frame_globals_scope, before);
    if (frame_globals_depth > 0)    /* a generator may begin it, and end it elsewhere */
        frame_globals_depth--;
    if (--frame_globals_threads == 0 && _PyInterpreterState_GetEvalFrameFunc(interpreter) == frame_globals_evaluate)
        _PyInterpreterState_SetEvalFrameFunc(interpreter, frame_globals_next);
}

#endif
