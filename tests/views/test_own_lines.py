"""The line of the user's own code that created each op."""

from build import op, profile
from tfprof.views import lines

MAIN = "/home/me/main.py:1:main"
NET = "/home/me/net.py:5:build"
LIBRARY = "/venv/lib/python3.11/site-packages/tensorflow/nn_ops.py:99:conv2d"
DEBIAN = "/usr/lib/python3/dist-packages/keras/layer.py:3:call"
STANDARD = "/usr/lib/python3.11/contextlib.py:81:inner"
WINDOWS = "C\\Lib\\site-packages\\keras\\layer.py:3:call"


def line(*stack):
    """The line of an op with this stack."""
    return of_ops(profile(op("a", code=stack)))["a"]


def of_ops(p):
    found = lines.of_ops(p)
    return {name: found[row] for row, name in enumerate(p.ops.name)}


def test_an_op_has_the_innermost_line():
    assert line(MAIN, NET) == "net.py:5:build"


def test_lines_of_installed_packages_and_of_the_standard_library_are_skipped():
    assert line(MAIN, NET, DEBIAN, STANDARD, LIBRARY) == "net.py:5:build"
    assert line(MAIN, WINDOWS) == "main.py:1:main"


def test_a_callback_from_a_library_is_still_found():
    assert line(MAIN, LIBRARY, NET, LIBRARY) == "net.py:5:build"


def test_if_all_lines_are_installed_the_innermost_is_used():
    assert line(DEBIAN, LIBRARY) == "nn_ops.py:99:conv2d"


def test_a_gradient_has_the_line_of_its_forward_op():
    p = profile(op("a", code=[MAIN, NET]), op("gradients/a_grad/mul", code=[MAIN]))

    assert of_ops(p)["gradients/a_grad/mul"] == "net.py:5:build (gradient)"


def test_a_gradient_of_an_unknown_op_has_its_own_line():
    assert line(MAIN) == "main.py:1:main"
    p = profile(op("gradients/gone_grad/mul", code=[MAIN]))

    assert of_ops(p)["gradients/gone_grad/mul"] == "main.py:1:main"


def test_an_op_without_a_stack_has_no_line():
    assert of_ops(profile(op("a", code=[MAIN]), op("b")))["b"] == "(no line known)"


def test_lines_with_the_same_name_share_a_code():
    p = profile(op("a", code=["/x/net.py:5:f"]), op("b", code=["/y/net.py:5:f"]))

    found = lines.of_ops(p)

    assert found.codes[0] == found.codes[1]


def test_without_code_lines_no_op_has_a_line():
    assert of_ops(profile(op("a"))) == {"a": "(no line known)"}
