// Runs modules of the page for tests: reads a line of JSON per question, and answers with another.

import { Buffer } from "node:buffer";
import process from "node:process";
import { createInterface } from "node:readline";
import { amountOf, typed } from "../src/tfprof/page/static/amounts.js";
import { commandOf, quoted } from "../src/tfprof/page/static/command.js";
import { unpack } from "../src/tfprof/page/static/container.js";
import { guarded } from "../src/tfprof/page/static/guarded.js";
import { regexOf } from "../src/tfprof/page/static/name_regex.js";
import { labelOf, PAGE_KEYS, VIEW_KEYS } from "../src/tfprof/page/static/keys.js";
import { listed, Patterns } from "../src/tfprof/page/static/patterns.js";
import { createProvider } from "../src/tfprof/page/static/provider.js";
import { matchingRows, problemOf } from "../src/tfprof/page/static/search_text.js";
import { formatted } from "../src/tfprof/page/static/units.js";

const ANSWERS = {
  match,
  rows,
  shown,
  column: ({ data, name }) => [...payloadOf(data)[name]],
  search,
  keys: () => [{ title: "everywhere", views: [], keys: PAGE_KEYS }, ...VIEW_KEYS].map(keyPart),
  regex: ({ name }) => regexOf(name),
  amounts: ({ unit, texts }) => texts.map((text) => amountOf(text, unit)),
  typed: ({ unit, numbers }) => numbers.map((number) => typed(number, unit)),
  quoted: ({ words }) => words.map(quoted),
  units: ({ values, unit }) => values.map((value) => formatted(value, unit)),
};

/** A part of the page and its keys. */
function keyPart({ title, views, keys }) {
  const rows = keys.map((key) => ({ keys: key.keys, label: labelOf(key), meaning: key.meaning }));
  return { title, views, keys: rows };
}

/** Which of the texts a list of regexes matches. */
function match({ patterns, texts, advice }) {
  return { flags: [...new Patterns(listed(patterns), advice).matchColumn(column(texts))] };
}

/** Which of the rows of a view match a search, and what is wrong with the search. */
function search({ kind, names, end, text, advice }) {
  const name = column(names);
  name.get = (row) => names[row];
  const found = matchingRows({ kind, name, end }, text);
  return { rows: found && [...found], problem: problemOf(text, advice) };
}

/** Texts as a column of the page. */
function column(texts) {
  const encoded = texts.map((text) => Buffer.from(text));
  const ends = [];
  for (const text of encoded) ends.push((ends.at(-1) ?? 0) + text.length);
  const starts = encoded.map((text, row) => ends[row] - text.length);
  return { data: Buffer.concat(encoded), starts, ends, length: texts.length };
}

/** @param {string} data */
function payloadOf(data) {
  const bytes = Buffer.from(data, "base64");
  return unpack(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** The rows of views of a profile with some options. */
async function rows({ data, questions, columns }) {
  const provider = createProvider(payloadOf(data));
  return Promise.all(questions.map(async ({ kind, options }) => {
    const found = await provider.ask(kind, options);
    const of = (numbers) => columns.map((name) => [...found.row].map((row) => numbers(name)[row]));
    return {
      names: [...found.row].map((row) => found.data.name.get(row)),
      end: [...found.end],
      depth: [...found.depth],
      own: of(found.own),
      total: of(found.total),
    };
  }));
}

/** What the page shows for each of some questions, one after the other, and the command for it. */
async function shown({ data, metric, questions }) {
  const payload = payloadOf(data);
  const provider = guarded(createProvider(payload));
  const found = [];
  for (const { kind, options } of questions) {
    const { cuts, problem, asked, row, data: view, total } = await provider.ask(kind, options);
    const { column } = payload.metrics.find(({ key }) => key === metric);
    const command = commandOf(payload, view, metric, asked);
    const numbers = [...row].map((one) => [view.name.get(one), total(column)[one]]);
    found.push({ cuts, problem, command, rows: numbers });
  }
  return found;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { call, ...question } = JSON.parse(line);
  let answer;
  try {
    answer = { value: await ANSWERS[call](question) };
  } catch (error) {
    answer = { error: error.message, kind: error.constructor.name, option: error.option };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
