cimport cython

cdef class ByteReader:
    cdef const unsigned char[::1] data
    cdef const unsigned char* octets  # the same bytes, kept alive by `data`
    cdef Py_ssize_t size
    cdef long long value  # the last number read

    cdef int give_up(self) except -1 with gil

    @cython.final
    cdef Py_ssize_t number(self, Py_ssize_t at, Py_ssize_t end) except -1 nogil
    @cython.final
    cdef Py_ssize_t long_number(self, Py_ssize_t at, Py_ssize_t end) except -1 nogil
    @cython.final
    cdef Py_ssize_t short(self, Py_ssize_t at, Py_ssize_t end, long long most) except -1 nogil
    @cython.final
    cdef long long slot(self, Py_ssize_t at, Py_ssize_t end) except -1 nogil

    @cython.final
    cdef int require_ascii(self, Py_ssize_t at, Py_ssize_t end) except -1 nogil
    @cython.final
    cdef Py_ssize_t colon(self, Py_ssize_t at, Py_ssize_t end) except -1 nogil
    @cython.final
    cdef int is_same(self, Py_ssize_t start, Py_ssize_t other, Py_ssize_t size) except -1 nogil
    @cython.final
    cdef long long hashed(self, int seed, Py_ssize_t at, Py_ssize_t end) except -1 nogil
