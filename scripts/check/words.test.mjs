// The word list: what it finds, what it leaves alone, and that the crates that are done stay so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { findWords, readList, splitLine } from "./words.mjs";

const { words } = readList();
const found = (source) => findWords(source, words, true).map(({ found }) => found);

test("a line of Rust is split into its code and its texts", () => {
  assert.deepEqual(splitLine('let a = "said: {x}"; // told'), { code: "let a =  ;  ", text: '"said: {x}"\n// told\n' });
  assert.equal(splitLine("let quote = '\"'; let said = 1;").code, "let quote = '\"'; let said = 1;");
});

test("words are found in texts, and names in code", () => {
  assert.deepEqual(found("/// It can not be read in a box."), ["can not", "a box"]);
  assert.deepEqual(found('Err("this can not be".to_owned())'), ["can not"]);
  assert.deepEqual(found("let said = House::new();"), ["let said", "House"]);
  assert.deepEqual(found("fn of(path: &str) -> Self {"), ["fn of"]);
});

test("other uses are left alone", () => {
  assert.deepEqual(found("let boxed = Box::new(1); // cannot, container"), []);
  assert.deepEqual(found('/// It "said" so of the house.'), []);
  assert.deepEqual(found("let value = list.iter().filter(|cut| *cut > 0);"), []);
});

test("code in Markdown is no text, its other lines are", () => {
  const inMarkdown = (source) => findWords(source, words, false).map(({ found }) => found);
  assert.deepEqual(inMarkdown("The key `cancelled`, ``a `box` ``, and a bounding box."), []);
  assert.deepEqual(inMarkdown("```\nthe box\n```\nthe box"), ["the box"]);
});

test("an exception is written beside the word", () => {
  assert.deepEqual(found("// can not (words: ok, a quotation)"), []);
  assert.deepEqual(found("// words: ok, the text of a server\nlet text = \"can not\";"), []);
  assert.equal(found("// words: ok\n\nlet text = \"can not\";").length, 1);
});

test("every entry says what is better", () => {
  for (const { regex, better } of words) assert.ok(better.length > 0, String(regex));
});
