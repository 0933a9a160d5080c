import re

import pytest

from tfprof.page import assets


@pytest.fixture
def static(tmp_path, monkeypatch):
    monkeypatch.setattr(assets, "_STATIC", tmp_path)
    assets._module.cache_clear()
    yield tmp_path
    assets._module.cache_clear()


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

    with pytest.raises(ValueError, match=r"a\.js → b\.js → a\.js"):
        assets.script("a.js")


def test_the_script_of_the_page_has_no_import_left():
    linked = assets.script("main.js")

    assert not re.search(r"^\s*(import|export)\b", linked, re.MULTILINE)
    assert "</script" not in linked
