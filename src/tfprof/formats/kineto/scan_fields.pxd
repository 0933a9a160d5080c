cimport cython

from tfprof.formats.kineto.scan_json cimport JsonReader

# The numbers of fields: the members of an event, then those of its arguments, group by group.
cdef enum:
    PH = 0
    CAT = 1
    NAME = 2
    PID = 3
    TID = 4
    TS = 5
    DUR = 6
    ID = 7
    ARGS = 8
    SLICE_NUMBERS = 9
    SLICE_TEXTS = 20
    COLLECTIVE_NUMBERS = 23
    COLLECTIVE_TEXTS = 26
    MEMORY_NUMBERS = 30
    NAMES = 36
    LABELS = 37
    LAUNCH_NUMBERS = 38
    LAUNCH_TEXTS = 41
    FIELDS = 43

# The time that `time` returns for what is not a time.
cdef enum:
    IMPOSSIBLE = -0x7FFF_FFFF_FFFF_FFFF


cdef class FieldReader(JsonReader):
    cdef object key_bytes
    cdef const unsigned char* keys
    cdef int key_starts[64]
    cdef int key_fields[64]
    cdef unsigned char key_slots[256]  # for the members of events, then those of arguments

    # The fields of the event that is being read: the first byte of each value, where it starts and
    # where it ends, without quotes.
    cdef unsigned char kinds[64]
    cdef Py_ssize_t starts[64]
    cdef Py_ssize_t stops[64]

    @cython.final
    cdef int learn_keys(self) except -1
    @cython.final
    cdef Py_ssize_t members(self, Py_ssize_t at, int level) except -9 nogil
    @cython.final
    cdef int key(self, int level, Py_ssize_t start, Py_ssize_t end) except -9 nogil
    @cython.final
    cdef int escaped_key(self, int level, Py_ssize_t start, Py_ssize_t end) except -9 with gil
    @cython.final
    cdef int is_(self, int field, const char* text, Py_ssize_t length) except -1 nogil
    @cython.final
    cdef int is_escaped_text(
        self, int field, const char* text, Py_ssize_t length
    ) except -1 with gil
    @cython.final
    cdef str token(self, int field)
    @cython.final
    cdef long long time(self, int field) except? -9 nogil
    @cython.final
    cdef unsigned long long decimals(self, Py_ssize_t at, Py_ssize_t end) noexcept nogil
    @cython.final
    cdef long long unusual_time(self, int field) except? -9 with gil
    @cython.final
    cdef long long whole(self, int field) except? -9 nogil
    @cython.final
    cdef long long unusual_whole(self, int field) except? -9 with gil
    @cython.final
    cdef int text(self, int column, int field, bint is_json) except -1 nogil
