"""The checks of the page's JavaScript refuse what the page must not contain."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ESLINT = ROOT / "node_modules/.bin/eslint"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not ESLINT.exists() and not os.environ.get("TFPROF_REQUIRE_BROWSER"),
        reason="ESLint is not installed: run make check",
    ),
]

REFUSED = [
    'element.innerHTML = "";',
    'element.outerHTML = "";',
    'element["innerHTML"] = "";',
    'element.insertAdjacentHTML("beforeend", "");',
    'document.write("");',
    'eval("1");',
    'new Function("return 1");',
    'setTimeout("run()", 1);',
    'location.href = "javascript:run()";',
    'import("./other.js");',
    "await ready;",
    "export default ready;",
    "export { ready };",
    'export * from "./other.js";',
    'export { other } from "./other.js";',
    "export let count = 1;",
    "export const one = 1, two = 2;",
    'import other from "./other.js";',
    "if (ready == 1) run();",
    "const unused = 1;",
    "missing();",
    'console.log("here");',
    'alert("here");',
    "function run() { return 1 }",
]
ACCEPTED = """\
import { a } from "./a.js";
import * as b from "./b.js";

export const text = "a";

export class Table {}

export function show(element) {
  element.textContent = a + b.text;
}

export async function load(name) {
  return await b.load(name);
}
"""


def problems(code: str) -> list[dict]:
    """The errors that ESLint finds in a module of the page."""
    ran = subprocess.run(
        [ESLINT, "--stdin", "--stdin-filename", "src/tfprof/page/static/code.js", "-f", "json"],
        input=code,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    return json.loads(ran.stdout)[0]["messages"]


def test_modules_of_the_forms_that_the_linker_reads_are_accepted():
    assert problems(ACCEPTED) == []


@pytest.mark.parametrize("statement", REFUSED)
def test_unsafe_unlinkable_and_careless_statements_are_refused(statement):
    # The first line defines what the statements use.
    first = "const [element, ready] = [document.body, 1];\nelement.append(ready);\n"

    assert {found["line"] for found in problems(f"{first}{statement}\n")} == {3}
