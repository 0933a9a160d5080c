"""The script and style of the page are linked from the files in `static/`."""

import re

import pytest

from tfprof.page import assets


@pytest.fixture
def static(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "_STATIC", tmp_path)
    _forget()
    yield tmp_path
    _forget()


def _forget():
    for function in (assets._module, assets.script, assets.style):
        function.cache_clear()


def test_modules_come_after_the_modules_they_import(static):
    (static / "main.js").write_text('import { b } from "./b.js";\nb();\n')
    (static / "b.js").write_text('import { c } from "./c.js";\nexport const b = () => c;\n')
    (static / "c.js").write_text("export const c = 1;\n")

    linked = assets.script("main.js")

    assert re.findall(r"const \$(\w+) =", linked) == ["c", "b", "main"]


def test_a_module_that_two_others_import_appears_once(static):
    (static / "main.js").write_text('import { a } from "./a.js";\nimport { b } from "./b.js";\n')
    (static / "a.js").write_text('import { c } from "./c.js";\nexport const a = c;\n')
    (static / "b.js").write_text('import { c } from "./c.js";\nexport const b = c;\n')
    (static / "c.js").write_text("export const c = 1;\n")

    assert assets.script("main.js").count("const $c =") == 1


def test_exports_are_returned_and_imports_bound(static):
    (static / "main.js").write_text('import {\n  one,\n  two as zwei,\n} from "./a.js";\n')
    (static / "a.js").write_text("export function one() {}\nexport class two {}\n")

    assert assets.script("main.js") == (
        "const $a = (() => {\nfunction one() {}\nclass two {}\nreturn { one, two };\n})();\n"
        "const $main = (() => {\nconst {\n  one,\n  two: zwei,\n} = $a;\nreturn {  };\n})();\n"
    )


def test_modules_that_import_each_other_are_refused(static):
    (static / "a.js").write_text('import { b } from "./b.js";\n')
    (static / "b.js").write_text('import { a } from "./a.js";\n')

    with pytest.raises(ValueError, match=r"a\.js ← b\.js ← a\.js"):
        assets.script("a.js")


def test_many_modules_that_share_imports_are_linked_quickly(static):
    # If every path through the imports were followed, this would not end.
    for place in range(100):
        imports = "".join(f'import * as m{i} from "./m{i}.js";\n' for i in range(place))
        (static / f"m{place}.js").write_text(imports)

    assert assets.script("m99.js").count("return {") == 100


@pytest.mark.parametrize(
    "statement",
    [
        "export default 1;",
        "export { a };",
        'export * from "./a.js";',
        "export let a = 1;",
        'import a from "./a.js";',
        'import { a } from "elsewhere";',
        "import { a } from './a.js';",
    ],
)
def test_other_forms_of_imports_and_exports_are_refused(static, statement):
    (static / "main.js").write_text(f"{statement}\n")

    with pytest.raises(ValueError, match=r"main\.js: the linker does not support"):
        assets.script("main.js")


def test_the_style_of_libraries_comes_first_and_those_of_views_last(static):
    (static / "vendor").mkdir()
    (static / "vendor/uplot.css").write_text("a {}\n")
    (static / "style.css").write_text("b {}\n")
    (static / "memory.css").write_text("d {}\n")
    (static / "advice.css").write_text("c {}\n")

    assert assets.style() == "a {}\nb {}\nc {}\nd {}\n"


@pytest.mark.parametrize("name", ["main.js", "vendor/uplot.js", "vendor/dagre.js"])
def test_the_script_of_the_page_can_be_put_into_html(name):
    linked = assets.script(name)

    assert "</script" not in linked.lower()
    assert "<!--" not in linked


def test_the_style_of_the_page_can_be_put_into_html():
    assert "</" not in assets.style()
