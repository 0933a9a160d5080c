"""Files are read, gzipped or not, and errors are one line that names the path."""

import gzip

import pytest

import peak_memory
from tfprof.errors import InputError
from tfprof.formats import content
from tfprof.formats.content import Content, read_file

WORDS = b"where the time goes " * 50
PACKED = gzip.compress(WORDS, mtime=0)  # the same bytes in every process, for test ids


@pytest.fixture
def written(tmp_path):
    """Writes bytes to a file and returns its path."""

    def write(data):
        path = tmp_path / "file"
        path.write_bytes(data)
        return str(path)

    return write


def complaint(path):
    """The error message for a file that cannot be read, without its path."""
    with pytest.raises(InputError) as caught:
        read_file(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    return caught.value.trouble


def test_a_plain_file_is_read_unchanged(written):
    assert read_file(written(WORDS)) == WORDS


def test_a_gzipped_file_is_unpacked_whatever_its_name(written):
    assert read_file(written(gzip.compress(WORDS))) == WORDS


def test_concatenated_gzip_files_are_read(written):
    assert read_file(written(gzip.compress(b"a") + gzip.compress(b"b"))) == b"ab"


def test_a_file_may_be_a_single_byte(written):
    assert read_file(written(b"\x1f")) == b"\x1f"


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_refused(written, data):
    assert complaint(written(data)) == "is empty; was the program still writing it?"


def test_a_missing_file_is_refused(tmp_path):
    assert complaint(str(tmp_path / "missing")) == "no such file; check the path."


def test_a_folder_is_refused(tmp_path):
    assert complaint(str(tmp_path)) == "is a folder; pass the files in it."


def test_a_path_below_a_file_is_refused(written):
    path = written(b"x")

    assert complaint(f"{path}/y") == "cannot be read: Not a directory."


def test_an_invalid_path_is_refused():
    assert complaint("zero\0byte") == "is not a valid path on this system; check it."


def test_a_file_without_read_permission_is_refused():
    # The user who runs the tests may be allowed to read everything, so there is no file to try.
    trouble = content._reason(PermissionError())

    assert trouble == "permission denied; check the file's permissions."


@pytest.mark.parametrize(
    ("kept", "size"), [(2, 0), (5, 0), (10, 0), (15, 0), (40, 25), (-9, 255), (-1, 256)]
)
def test_cut_gzip_data_is_refused(written, kept, size):
    packed = gzip.compress(bytes(range(256)), 0)  # not compressed, but with a header

    trouble = complaint(written(packed[:kept]))

    cut = "the gzip data ends early; was the copy or download cut short?"
    assert trouble == f"{cut} {size} bytes could be unpacked."


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[:2] + b"no gzip data at all",
        lambda packed: packed[:10] + b"\xff" * 40,
        lambda packed: packed[:-8] + bytes(8),
        lambda packed: packed + b"and more",
    ],
    ids=["header", "block", "checksum", "end"],
)
def test_damaged_gzip_data_is_refused(written, damage):
    trouble = complaint(written(damage(gzip.compress(WORDS))))

    assert trouble.startswith("contains damaged gzip data (")
    assert trouble.endswith("); fetch it again.")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_larger_than_its_format_allows_is_refused(written, pack):
    assert Content(written(pack(bytes(100)))).read(100)[0] == bytes(100)
    with pytest.raises(InputError) as caught:
        Content(written(pack(bytes(101)))).read(100)
    assert caught.value.trouble == "is larger than the limit of 100 bytes for this format."


def test_a_gzipped_file_that_unpacks_to_implausibly_much_is_refused(written, monkeypatch):
    monkeypatch.setattr(content, "_HARMLESS", 1000)
    bomb = gzip.compress(bytes(1 << 20))

    limit = 1000 + 200 * len(bomb)
    assert f"unpacks to more than the limit of {limit:,} bytes" in complaint(written(bomb))


@pytest.mark.parametrize("data", [PACKED, gzip.compress(bytes(1 << 22))], ids=["text", "zeros"])
def test_a_gzipped_file_takes_no_more_memory_than_its_content(written, data):
    path = written(data)
    size = len(gzip.decompress(data))

    assert peak_memory.allocated(lambda: read_file(path)) < 2 * size + (3 << 20)


# Reading parts


def looked_at(path, at):
    return Content(path)._examine(at, None)


@pytest.mark.parametrize("packed", [WORDS, PACKED])
def test_parts_of_a_file_can_be_read(written, packed):
    def check(found):
        assert len(found) == len(WORDS)
        assert found[7] == WORDS[7]
        assert found[990] == WORDS[990]
        assert found[3:20] == WORDS[3:20]
        assert found[990:2000] == WORDS[990:]
        assert found[20:3] == b""
        with pytest.raises(IndexError):
            found[len(WORDS)]
        return True

    assert looked_at(written(packed), check)


def test_any_part_of_a_large_file_can_be_read(written):
    data = bytes(range(256)) * 1000

    def check(found):
        for at in (0, 65_535, 65_536, 255_999, 70_000, 131, 200_001):
            assert found[at] == data[at]
            assert found[at : at + 300] == data[at : at + 300]
            assert found[at - 1 if at else 0] == data[at - 1 if at else 0]
        return True

    assert looked_at(written(data), check)


def test_a_file_that_is_truncated_while_it_is_read_ends_in_zeros(written):
    path = written(WORDS)

    def check(found):
        written(b"short")
        assert found[0:7] == b"short\0\0"
        assert found[999] == 0
        return True

    assert looked_at(path, check)


@pytest.mark.parametrize("data", [WORDS, PACKED])
def test_the_head_is_the_start_of_the_unpacked_file(written, data):
    assert Content(written(data)).head == WORDS


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0), PACKED[:-9]])
def test_a_file_that_cannot_be_read_has_an_empty_head_and_a_reason(written, data):
    path = written(data)
    found = Content(path)

    assert found.head == b""
    assert found.message.kind is None
    with pytest.raises(InputError) as caught:
        found.require_readable()
    assert caught.value.trouble == complaint(path)


def test_a_missing_file_has_a_reason(tmp_path):
    path = str(tmp_path / "none")

    with pytest.raises(InputError) as caught:
        Content(path).require_readable()
    assert caught.value.trouble == complaint(path)


def test_a_gzipped_file_is_unpacked_once(written, monkeypatch):
    unpacked = []
    unpack = Content._unpack
    monkeypatch.setattr(Content, "_unpack", lambda *args: unpacked.append(1) or unpack(*args))
    found = Content(written(PACKED))

    assert found.head == WORDS
    assert found.message.kind is None
    assert found.read()[0] == WORDS
    assert unpacked == [1]


def test_content_may_be_in_memory():
    found = Content.of_bytes("somewhere", WORDS)

    assert found.head == WORDS
    assert found.read() == (WORDS, None)


@pytest.mark.parametrize(
    "data",
    [WORDS, PACKED, bytes(3 << 20), gzip.compress(bytes(3 << 20))],
    ids=["text", "packed text", "zeros", "packed zeros"],
)
def test_a_file_of_any_size_can_be_read_in_pieces(written, data):
    path = written(data)

    assert b"".join(Content(path).pieces()) == read_file(path)


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0), PACKED[:-9], PACKED[:-20]])
def test_pieces_of_a_file_that_cannot_be_read_raise_the_same_error(written, data):
    path = written(data)

    with pytest.raises(InputError) as caught:
        list(Content(path).pieces())
    assert caught.value.trouble == complaint(path)


def test_only_the_start_of_a_large_gzipped_file_is_unpacked_for_its_head(written):
    packed = gzip.compress(bytes(range(256)) * 4096, 0)
    found = Content(written(packed[:-100_000]))  # cut short, far from its start

    assert found.head == bytes(range(256)) * 256
    with pytest.raises(InputError, match="the gzip data ends early"):
        found.read()


def test_json_is_no_message(written, monkeypatch):
    found = Content(written(gzip.compress(b'{"a": [' + b"1, " * 100_000 + b"1]}")))
    monkeypatch.setattr(found, "read", None)  # the whole file is not needed for that

    assert found.message.kind is None
    assert found.message.is_text
