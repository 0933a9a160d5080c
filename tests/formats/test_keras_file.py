"""Files of Keras: configuration and weights."""

import gzip
import zipfile
from pathlib import Path

import h5py
import pytest

import tfprof
from tfprof.errors import InputError
from tfprof.formats import keras_file

SAMPLES = Path(__file__).parents[1] / "samples" / "keras"


@pytest.fixture
def rewritten(tmp_path):
    """Write the sample again with changes: files by name, None to leave one out."""

    def write(compression=zipfile.ZIP_STORED, **changes):
        path = tmp_path / "changed.keras"
        with zipfile.ZipFile(SAMPLES / "small.keras") as old:
            files = {name.replace(".", "_"): (name, old.read(name)) for name in old.namelist()}
        with zipfile.ZipFile(path, "w", compression) as new:
            for key, (name, data) in files.items():
                if (content := changes.get(key, data)) is not None:
                    new.writestr(name, content)
        return str(path)

    return write


def read(path):
    return keras_file.read(path, Path(path).read_bytes()[:1000])


def refusal(path):
    with pytest.raises(InputError) as caught:
        tfprof.load(path)
    return caught.value.trouble


def test_weights_may_be_compressed(rewritten):
    plain, packed = (
        dict(read(rewritten(kind)).weights.datasets_below())
        for kind in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    )

    assert plain == packed
    assert len(plain) == 30


def test_compressed_weights_have_a_limit(rewritten, monkeypatch):
    monkeypatch.setattr(keras_file, "_MOST_UNPACKED_BYTES", 1000)

    assert refusal(rewritten(zipfile.ZIP_DEFLATED)) == (
        "is not a Keras model: its model.weights.h5 is too large when unpacked."
    )


def test_a_large_configuration_is_refused(rewritten, monkeypatch):
    monkeypatch.setattr(keras_file, "_MOST_CONFIG_BYTES", 10)

    assert refusal(rewritten()) == "is not a Keras model: its config.json is too large."


@pytest.mark.parametrize(
    ("changes", "trouble"),
    [
        ({"config_json": None}, "is an incomplete Keras file: There is no item named 'config."),
        ({"model_weights_h5": None}, "is an incomplete Keras file: There is no item named 'model"),
        ({"config_json": b"{"}, "is damaged: its configuration is not valid JSON; save it again"),
        (
            {"config_json": b"[" * 100_000},
            "is damaged: its configuration is not valid JSON; save it again",
        ),
        ({"config_json": b"[]"}, "is damaged: its configuration is not an object; save it again"),
        ({"model_weights_h5": b"nothing"}, "is a damaged HDF5 file ("),
    ],
)
def test_a_damaged_file_is_an_error(rewritten, changes, trouble):
    assert refusal(rewritten(**changes)).startswith(trouble)


def test_a_cut_archive_is_an_error(tmp_path):
    data = (SAMPLES / "small.keras").read_bytes()
    (tmp_path / "cut.keras").write_bytes(data[: len(data) // 2])

    assert refusal(tmp_path / "cut.keras").startswith("is a damaged Keras file (")


def test_a_gzipped_file_is_refused(tmp_path):
    data = (SAMPLES / "small.h5").read_bytes()
    (tmp_path / "small.h5.gz").write_bytes(gzip.compress(data))

    assert refusal(tmp_path / "small.h5.gz") == "is a gzipped Keras file; unpack it first."


def test_an_hdf5_file_of_something_else_is_refused(tmp_path):
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["images"] = [1, 2, 3]

    assert refusal(tmp_path / "data.h5") == (
        "is an HDF5 file without a Keras model; save one with model.save(FILE.keras)."
    )
