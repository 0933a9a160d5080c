cimport cython

from tfprof.formats.kineto.scan_texts cimport TextTable

cdef class JsonReader(TextTable):
    cdef object buffer
    cdef const unsigned char* octets  # of the buffer; zeros follow after `end`
    cdef Py_ssize_t at
    cdef Py_ssize_t end
    cdef Py_ssize_t base  # bytes that came before the buffer
    cdef int is_escaped  # whether the last text has escapes

    cdef int point(self) except -1
    @cython.final
    cdef Py_ssize_t fail(self, Py_ssize_t at) noexcept nogil
    @cython.final
    cdef Py_ssize_t string(self, Py_ssize_t at) noexcept nogil
    @cython.final
    cdef Py_ssize_t number(self, Py_ssize_t at) noexcept nogil
    @cython.final
    cdef Py_ssize_t constant(self, Py_ssize_t at) noexcept nogil
    @cython.final
    cdef int has(self, Py_ssize_t at, const char* text, Py_ssize_t length) noexcept nogil
    @cython.final
    cdef Py_ssize_t skip(self, Py_ssize_t at, int depth) noexcept nogil
    @cython.final
    cdef Py_ssize_t skip_object(self, Py_ssize_t at, int depth) noexcept nogil
    @cython.final
    cdef Py_ssize_t skip_list(self, Py_ssize_t at, int depth) noexcept nogil

