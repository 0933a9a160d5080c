cimport cython

from tfprof.formats.scan_rows cimport RowWriter

@cython.final
cdef class Walker(RowWriter):
    cdef const int[::1] actions
    cdef const int[::1] column_table
    cdef const unsigned char[::1] keys
    cdef const int[::1] key_start
    cdef unsigned long long key_lengths  # one bit per length that occurs among the keys
    cdef Py_ssize_t longest_key
    cdef int key_count
    cdef const int[::1] key_tag
    cdef const int[::1] key_action
    cdef long long[::1] key_row  # the last row that contained each key
    cdef long long[::1] stack  # end, state and row of each enclosing message

    cdef int walk(self) except -1 nogil
    cdef int take_number(self, int action, long long row, Py_ssize_t at, long long value) except -1 nogil
    cdef int take(self, int action, long long row, Py_ssize_t start, Py_ssize_t end) except -1 nogil
    cdef int numbers(self, int table, int column, Py_ssize_t at, Py_ssize_t end) except -1 nogil
    cdef int shape(self, int action, long long row, Py_ssize_t at, Py_ssize_t end) except -1 nogil
    cdef Py_ssize_t dim(self, int table, int column, Py_ssize_t at, Py_ssize_t end) except -1 nogil
    cdef int input(self, int table, int column, Py_ssize_t start, Py_ssize_t end) except -1 nogil
    cdef int entry(self, long long row, Py_ssize_t at, Py_ssize_t end) except -1 nogil
    cdef int key(self, Py_ssize_t start, Py_ssize_t end) except -1 nogil
    cdef int holds(self, long long wanted, Py_ssize_t at, Py_ssize_t end) except -1 nogil
