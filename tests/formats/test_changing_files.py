"""Files that change while they are read."""

import pytest

from tfprof.errors import InputError
from tfprof.formats import content
from tfprof.formats.content import Content


@pytest.mark.parametrize("change", ["append", "truncate"])
def test_a_file_that_changes_while_it_is_read_is_refused(change, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"one")

    def change_file(*_):
        path.write_bytes(b"" if change == "truncate" else b"one two")

    monkeypatch.setattr(content.StoredFile, "of", change_file)

    with pytest.raises(InputError, match="changed while it was read; wait until it is complete"):
        Content(str(path)).read()
