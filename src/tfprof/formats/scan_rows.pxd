cimport cython

from tfprof.formats.scan_bytes cimport ByteReader

cdef class RowWriter(ByteReader):
    cdef object plan
    cdef const int[::1] links
    cdef const int[::1] link_start
    cdef const int[::1] place

    cdef list arrays
    cdef object places
    cdef long long** cells  # the same arrays, by column
    cdef long long[::1] used  # rows in use, by table
    cdef long long[::1] room
    cdef long long[::1] slots  # the hash table: numbers of texts, or -1
    cdef long long[::1] set_size
    cdef long long[::1] last  # the number of the last text in each set

    cdef int point(self) except -1
    @cython.final
    cdef long long add_row(self, int table, Py_ssize_t start, Py_ssize_t end) except -1 nogil
    cdef int grow(self, int table, Py_ssize_t at) except -1 with gil

    @cython.final
    cdef long long code(self, int texts, Py_ssize_t start, Py_ssize_t end) except -1 nogil
    @cython.final
    cdef int is_text(self, long long number, Py_ssize_t start, Py_ssize_t end) except -1 nogil
    @cython.final
    cdef long long text(self, int texts, Py_ssize_t start, Py_ssize_t end) except -1 nogil
    @cython.final
    cdef long long learn(
        self, int texts, Py_ssize_t start, Py_ssize_t end, long long found, unsigned long long slot
    ) except -1 nogil
    cdef int spread(self) except -1 with gil
