cimport cython

cdef class TextTable:
    cdef unsigned long long seed
    cdef long long count  # texts
    cdef object arrays  # what the pointers below point to
    cdef unsigned char* data  # all texts, one after the other
    cdef long long* ends  # row `i + 1` has the end of text `i`
    cdef long long* following  # the text that came after this one the last time, by column
    cdef unsigned long long* slots  # the upper half of a hash, and the number plus one; 0 is free
    cdef int* marks
    cdef int* codes
    cdef Py_ssize_t room  # for bytes, texts and slots
    cdef Py_ssize_t text_room
    cdef unsigned long long mask
    cdef int columns
    cdef int* counts  # distinct texts by column
    cdef long long* last  # the last text by column

    @cython.final
    cdef int code(self, int mark, const unsigned char* at, Py_ssize_t length) except -1 nogil
    @cython.final
    cdef int is_text(
        self, long long number, int mark, const unsigned char* at, Py_ssize_t length
    ) noexcept nogil
    @cython.final
    cdef long long find(self, int mark, const unsigned char* at, Py_ssize_t length) except -1 nogil
    cdef int grow(self, Py_ssize_t length) except -1 with gil
    cdef int spread(self, Py_ssize_t size) except -1
