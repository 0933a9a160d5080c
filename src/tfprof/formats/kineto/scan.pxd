cimport cython

from tfprof.formats.kineto.scan_fields cimport FieldReader

cdef class Scanner(FieldReader):
    cdef list tables  # the columns of each
    cdef long long* cells[64]  # the columns of all tables
    cdef long long used[8]
    cdef long long rooms[8]
    cdef readonly long long events
    cdef readonly long long damaged
    cdef readonly long long clamped
    cdef readonly bint is_complete

    @cython.final
    cdef int scan(self) except -9 nogil
    @cython.final
    cdef int take(self) except -1 nogil
    @cython.final
    cdef int take_slice(self) except -1 nogil
    @cython.final
    cdef int take_collective(self) except -1 nogil
    @cython.final
    cdef int take_configuration(self) except -1 nogil
    @cython.final
    cdef int take_memory(self) except -1 nogil
    @cython.final
    cdef int take_flow(self, int is_start) except -1 nogil
    @cython.final
    cdef int take_name(self) except -1 nogil
    @cython.final
    cdef unsigned char unusual_phase(self) except? 255 with gil
    @cython.final
    cdef int thread(self) except -1 nogil
    @cython.final
    cdef long long row(self, int table) except -1 nogil
    @cython.final
    cdef int grow_rows(self, int table) except -1 with gil
