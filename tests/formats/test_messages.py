"""Message classes come from our own schemas and do not clash with those of other programs."""

import importlib.util
import subprocess
import sys
from importlib import resources

import pytest
from google.protobuf import descriptor_pb2

from sources.tf_files import FILES, MESSAGES, content, packed
from tfprof.formats import scan
from tfprof.formats.messages import DecodeError, TextError, decode, message_class, parse_text

SCHEMAS = resources.files("tfprof.formats.schemas")


def descriptors():
    encoded = SCHEMAS.joinpath("descriptors.binpb").read_bytes()
    return descriptor_pb2.FileDescriptorSet.FromString(encoded)


def run(script, *args):
    """The output of `script` in a new Python process."""
    done = subprocess.run(
        [sys.executable, "-c", script, *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_bytearray_is_decoded_like_bytes():
    encoded = b"\x0a\x03\x0a\x01a"  # protobuf itself accepts one since version 5.28

    assert decode("tensorflow.GraphDef", bytearray(encoded)).node[0].name == "a"
    assert decode("tensorflow.GraphDef", encoded).node[0].name == "a"


def test_a_class_is_found_by_its_full_name():
    message = message_class("tensorflow.NodeDef")(name="a")

    assert message.SerializeToString() == b"\x0a\x01a"


def test_a_message_has_only_one_class():
    assert message_class("tensorflow.NodeDef") is message_class("tensorflow.NodeDef")


def test_threads_that_start_together_get_the_same_class():
    script = """
import pkgutil, sys, threading, time
from tfprof.formats.messages import message_class
read, found, ended = pkgutil.get_data, [], []

def get_data(*where):  # returns when all threads ask for the pool, so that they overlap
    until = time.monotonic() + 60
    while not all(asks_for_pool(thread) or thread in ended for thread in threads):
        assert time.monotonic() < until, "a thread did not ask for the pool"
        time.sleep(0.001)
    return read(*where)

def find():
    found.append(message_class("tensorflow.NodeDef"))
    ended.append(threading.current_thread())

def asks_for_pool(thread):
    frame = sys._current_frames().get(thread.ident)
    while frame and frame.f_code.co_name != "_pool":
        frame = frame.f_back
    return frame is not None

pkgutil.get_data = get_data
threads = [threading.Thread(target=find) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), len(set(map(id, found))))
"""
    assert run(script) == "8 1"


def test_text_is_parsed_by_the_same_schema():
    message = parse_text("tensorflow.GraphDef", 'node { name: "a" of_no_interest: 3 }')

    assert [node.name for node in message.node] == ["a"]


def test_text_that_is_not_a_message_is_an_error():
    with pytest.raises(TextError):
        parse_text("tensorflow.GraphDef", "node {")


def test_bytes_that_are_not_a_message_are_an_error():
    with pytest.raises(DecodeError):
        message_class("tensorflow.GraphDef").FromString(b"\x0a")


@pytest.mark.parametrize(
    "name", [name for name in FILES if FILES[name] in MESSAGES and "pbtxt" not in name]
)
def test_a_message_is_unchanged_after_reading_and_writing(name):
    message = message_class(MESSAGES[FILES[name]]).FromString(content(name))

    again = type(message).FromString(message.SerializeToString())

    assert again == message
    assert len(message.SerializeToString()) == len(content(name))


def test_reading_a_graph_imports_no_framework():
    script = """
import sys
import tfprof
tfprof.load(sys.argv[1]).scope()
print([name for name in ("tensorflow", "jax", "torch", "pandas") if name in sys.modules])
"""
    assert run(script, packed("mlp_tiny/graph.pb")) == "[]"


def test_our_classes_are_not_those_of_the_default_pool():
    # In another process, because TensorFlow may have been imported by another test.
    script = """
from google.protobuf import descriptor_pool
from tfprof.formats.messages import message_class

pool = descriptor_pool.Default()
assert message_class("tensorflow.NodeDef").DESCRIPTOR.file.pool is not pool
for name in ("tensorflow.NodeDef", "tensorflow.tfprof.ProfileNode"):
    try:
        print(pool.FindMessageTypeByName(name))
    except KeyError:
        print("unknown")
"""
    assert run(script).split() == ["unknown", "unknown"]


@pytest.mark.parametrize("ours_first", [True, False])
def test_another_program_may_register_the_same_files(ours_first):
    script = """
import sys
from importlib import resources
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tfprof.formats.messages import message_class

encoded = resources.files("tfprof.formats.schemas").joinpath("descriptors.binpb").read_bytes()
if sys.argv[1] == "True":
    message_class("tensorflow.NodeDef")
pool = descriptor_pool.Default()
for file in descriptor_pb2.FileDescriptorSet.FromString(encoded).file:
    pool.Add(file)
theirs = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.NodeDef"))
ours = message_class("tensorflow.NodeDef")
assert theirs is not ours
print(ours.FromString(theirs(name="a", op="b").SerializeToString()).op)
"""
    assert run(script, str(ours_first)) == "b"


@pytest.mark.live
@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed"
)
def test_tensorflow_and_tfprof_read_the_same_bytes_in_one_program():
    script = """
import sys
from tfprof.formats.messages import message_class
ours = message_class("tensorflow.GraphDef")
import tensorflow as tf
import gzip
data = gzip.open(sys.argv[1]).read()
theirs = tf.compat.v1.GraphDef.FromString(data)
assert type(theirs) is not ours
again = ours.FromString(theirs.SerializeToString())
back = tf.compat.v1.GraphDef.FromString(again.SerializeToString())
print(back == theirs, len(again.node))
"""
    assert run(script, packed("mlp_tiny/graph.pb")) == "True 15"


def test_the_descriptors_match_the_schemas(tmp_path):
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("grpcio-tools, which brings the compiler of schemas, is not installed")
    compiled = tmp_path / "descriptors.binpb"
    files = [file.name for file in SCHEMAS.iterdir() if file.name.endswith(".proto")]
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", f"-I{SCHEMAS}"),
            *(f"--descriptor_set_out={compiled}", *sorted(files)),
        ],
        check=True,
    )

    found = descriptor_pb2.FileDescriptorSet.FromString(compiled.read_bytes())

    assert found == descriptors(), "make schemas, and commit what it writes"


def test_each_descriptor_comes_after_those_it_uses():
    known = set()
    for file in descriptors().file:
        assert set(file.dependency) <= known
        known.add(file.name)


@pytest.mark.skipif(not scan.is_compiled(), reason="protobuf is what reads files then")
def test_a_question_about_binary_files_is_answered_without_protobuf():
    files = [packed(f"mlp_tiny/{name}") for name in ("graph.pb", "run_meta_1", "tfprof_log")]
    ask = "import sys, tfprof.cli; tfprof.cli.main(['scope', *sys.argv[1:]])"
    tell = "print(*(name for name in sys.modules if name.startswith('google')), file=sys.stderr)"

    ran = subprocess.run(
        [sys.executable, "-c", f"{ask}; {tell}", *files], capture_output=True, text=True, check=True
    )

    assert "_TFProfRoot" in ran.stdout
    assert ran.stderr.strip() == ""
