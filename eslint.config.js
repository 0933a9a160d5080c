// Rules for the report page's ES modules. `npm run fix` repairs the formatting.

import js from "@eslint/js";
import stylistic from "@stylistic/eslint-plugin";
import globals from "globals";

const PAGE = "src/tfprof/page/static/*.js";

// Names and code lines come from untrusted files: text must never be parsed as HTML or run.
const message = "Create elements with h() from dom.js.";
const parsesHtml = [
  { property: "innerHTML", message },
  { property: "outerHTML", message },
  { property: "insertAdjacentHTML", message },
  { property: "createContextualFragment", message },
  { property: "parseFromString", message },
  { property: "setHTMLUnsafe", message },
  { property: "srcdoc", message },
  { object: "document", property: "write", message },
  { object: "document", property: "writeln", message },
];

// The linker in page/assets.py reads only simple imports and exports.
const onlySimple = "The linker supports only `import { a } from`, `import * as a from`, "
  + "`export function`, `export const` and `export class`.";
const unlinkable = [
  "ExportDefaultDeclaration",
  "ExportAllDeclaration",
  "ExportNamedDeclaration[declaration=null]",
  "ExportNamedDeclaration > VariableDeclaration[kind!='const']",
  "ExportNamedDeclaration > VariableDeclaration > VariableDeclarator[id.type!='Identifier']",
  "ExportNamedDeclaration > VariableDeclaration > VariableDeclarator ~ VariableDeclarator",
  "ImportDefaultSpecifier",
  "ImportExpression",
  "MetaProperty[meta.name='import']",
  "Program > ExpressionStatement > AwaitExpression",
  "Program > VariableDeclaration > VariableDeclarator > AwaitExpression",
].map((selector) => ({ selector, message: onlySimple }));

export default [
  // Packages of Python have scripts too.
  { ignores: ["src/tfprof/page/static/vendor/", ".venv/", "build/", "docs/_build/"] },
  js.configs.recommended,
  stylistic.configs.customize({
    indent: 2, quotes: "double", semi: true, braceStyle: "1tbs", arrowParens: true,
    commaDangle: "always-multiline", quoteProps: "as-needed",
  }),
  {
    files: [PAGE, "eslint.config.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-shadow": "error",
      "no-unused-vars": "error",
      "no-undef": "error",
      "no-console": "error",
      "no-control-regex": "off", // the page makes control characters visible
      "no-alert": "error",
      "@stylistic/max-len": ["error", { code: 100, ignoreUrls: true }],
      "@stylistic/multiline-ternary": "off",
      "@stylistic/operator-linebreak": ["error", "before"],
    },
  },
  {
    files: [PAGE],
    languageOptions: { globals: globals.browser },
    rules: {
      complexity: ["error", 12],
      "max-depth": ["error", 4],
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", { max: 60, skipComments: true, skipBlankLines: true }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-script-url": "error",
      "no-restricted-properties": ["error", ...parsesHtml],
      "no-restricted-syntax": ["error", ...unlinkable],
    },
  },
];
