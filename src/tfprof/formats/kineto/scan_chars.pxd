# Kinds of bytes in JSON. The byte after the last one of the buffer is a zero, which is of no kind.

cdef inline Py_ssize_t space(const unsigned char* octets, Py_ssize_t at) noexcept nogil:
    """The position after whitespace."""
    while octets[at] <= 32 and (
        octets[at] == 32 or octets[at] == 10 or octets[at] == 13 or octets[at] == 9
    ):
        at += 1
    return at


cdef inline Py_ssize_t digits(const unsigned char* octets, Py_ssize_t at) noexcept nogil:
    """The position after digits."""
    while is_digit(octets[at]):
        at += 1
    return at


cdef inline bint is_digit(unsigned char octet) noexcept nogil:
    return 48 <= octet <= 57


cdef inline bint is_hex(unsigned char octet) noexcept nogil:
    return is_digit(octet) or 65 <= octet <= 70 or 97 <= octet <= 102


cdef inline bint is_escape(unsigned char octet) noexcept nogil:
    """Whether this may follow a backslash, besides `u`."""
    return octet in (b'"', b"\\", b"/", b"b", b"f", b"n", b"r", b"t")
