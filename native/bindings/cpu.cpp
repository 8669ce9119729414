// CPU dispatch: which of the compiled modules this machine can run. It is a module of its own,
// compiled for every machine, since a module with wide instructions must not be loaded to find out.
#include <Python.h>

namespace {

PyObject* instruction_set(PyObject*, PyObject*) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return PyUnicode_FromString("avx512");
    if (__builtin_cpu_supports("avx2")) return PyUnicode_FromString("avx2");
#endif
    return PyUnicode_FromString("baseline");
}

PyMethodDef methods[] = {{"instruction_set", instruction_set, METH_NOARGS,
                          "The widest instruction set of this machine that we compile for."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_cpu", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__native_cpu() { return PyModule_Create(&definition); }
