"""Files are read whole, gzipped or not, and a complaint is one line that names the path."""

import gzip

import pytest

from tfprof.errors import InputError
from tfprof.formats import compressed

WORDS = b"where the time goes " * 50
PACKED = gzip.compress(WORDS, mtime=0)  # the same bytes whenever tests are collected


@pytest.fixture
def written(tmp_path):
    """Writes bytes to a file and gives its path."""

    def write(data):
        path = tmp_path / "file"
        path.write_bytes(data)
        return str(path)

    return write


def complaint(path):
    """What is said of a file that cannot be read, after its path."""
    with pytest.raises(InputError) as caught:
        compressed.read(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    return caught.value.trouble


def test_a_plain_file_is_read_as_it_is(written):
    assert compressed.read(written(WORDS)) == WORDS


def test_a_gzipped_file_is_unpacked_whatever_its_name(written):
    assert compressed.read(written(gzip.compress(WORDS))) == WORDS


def test_gzip_files_put_together_are_read_one_after_the_other(written):
    assert compressed.read(written(gzip.compress(b"a") + gzip.compress(b"b"))) == b"ab"


def test_a_single_byte_is_a_file(written):
    assert compressed.read(written(b"\x1f")) == b"\x1f"


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0)])
def test_an_empty_file_is_refused(written, data):
    assert complaint(written(data)) == "is empty; was the program still writing it?"


def test_a_missing_file_is_refused(tmp_path):
    assert complaint(str(tmp_path / "missing")) == "no such file; check the path."


def test_a_folder_is_refused(tmp_path):
    assert complaint(str(tmp_path)) == "is a folder; name the files in it."


def test_a_file_has_no_files_below_it(written):
    path = written(b"x")

    assert complaint(f"{path}/y") == "cannot be read: Not a directory."


def test_a_path_that_is_none_is_refused():
    assert complaint("zero\0byte") == "is no path that this system knows; check it."


def test_a_file_of_somebody_else_is_refused():
    # Whoever runs the tests may be allowed to read everything, so no such file is made.
    trouble = compressed._why(PermissionError())

    assert trouble == "may not be read by you; check its permissions."


@pytest.mark.parametrize("kept", [2, 5, 10, 18, 40, -9, -1])
def test_cut_gzip_data_is_refused(written, kept):
    packed = gzip.compress(bytes(range(256)))

    trouble = complaint(written(packed[:kept]))

    assert trouble == "the gzip data ends early; was the copy or the download cut short?"


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

    assert trouble.startswith("is damaged gzip data (")
    assert trouble.endswith("); fetch it again.")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_larger_than_any_message_is_refused(written, pack, monkeypatch):
    monkeypatch.setattr(compressed, "LARGEST_FILE", 100)

    assert compressed.read(written(pack(bytes(100)))) == bytes(100)
    trouble = complaint(written(pack(bytes(101))))
    assert trouble == "holds more than 2 GiB, which no protobuf message does."


@pytest.mark.parametrize("packed", [WORDS, PACKED])
def test_a_file_can_be_looked_at_in_parts(written, packed):
    with compressed.opened(written(packed)) as content:
        assert len(content) == len(WORDS)
        assert content[7] == WORDS[7]
        assert content[990] == WORDS[990]
        assert content[3:20] == WORDS[3:20]
        assert content[990:2000] == WORDS[990:]
        assert content[20:3] == b""
        with pytest.raises(IndexError):
            content[len(WORDS)]


def test_a_large_file_can_be_looked_at_anywhere(written):
    data = bytes(range(256)) * 1000

    with compressed.opened(written(data)) as content:
        for at in (0, 65_535, 65_536, 255_999, 70_000, 131, 200_001):
            assert content[at] == data[at]
            assert content[at : at + 300] == data[at : at + 300]
            assert content[at - 1 if at else 0] == data[at - 1 if at else 0]


def test_of_a_file_that_becomes_shorter_zeros_are_seen(written):
    path = written(WORDS)

    with compressed.opened(path) as content:
        written(b"short")

        assert content[0:7] == b"short\0\0"
        assert content[999] == 0


@pytest.mark.parametrize("data", [b"", gzip.compress(b"", mtime=0), PACKED[:-9]])
def test_a_file_is_complained_of_alike_when_it_is_looked_at(written, data):
    path = written(data)

    with pytest.raises(InputError) as caught, compressed.opened(path):
        pass

    assert caught.value.trouble == complaint(path)


def test_a_missing_file_is_complained_of_alike_when_it_is_looked_at(tmp_path):
    path = str(tmp_path / "none")

    with pytest.raises(InputError) as caught, compressed.opened(path):
        pass

    assert caught.value.trouble == complaint(path)
