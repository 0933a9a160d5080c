cdef unsigned long long hashed(
    const unsigned char* at, Py_ssize_t length, unsigned long long seed
) noexcept nogil
