// The word list: what it finds, what it leaves alone, and that the crates that are done stay so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { splitScript, splitSvelte } from "./words-ui.mjs";
import { findWords, languageOf, readList, splitLine, wordsFor } from "./words.mjs";

const { words } = readList();
const found = (source) => findWords(source, words, "rust").map(({ found }) => found);

test("a line of Rust is split into its code and its texts", () => {
  assert.deepEqual(splitLine('let a = "said: {x}"; // told'), { code: "let a =  ;  ", text: '"said: {x}"\n// told\n' });
  assert.equal(splitLine("let quote = '\"'; let said = 1;").code, "let quote = '\"'; let said = 1;");
});

test("words are found in texts, and names in code", () => {
  assert.deepEqual(found("/// It can not be read in a box."), ["can not", "a box"]);
  assert.deepEqual(found('Err("this can not be".to_owned())'), ["can not"]);
  assert.deepEqual(found("let said = House::new();"), ["let said", "House"]);
  assert.deepEqual(found("fn of(path: &str) -> Self {"), ["fn of"]);
  assert.deepEqual(found("fn of_label(label: &str) -> Self {"), ["fn of_label"]);
});

test("pronouns, bare verbs and bare prepositions are no names", () => {
  assert.deepEqual(found("let why = reason();"), ["let why ="]);
  assert.deepEqual(found("for (name, of) in list {"), ["for (name, of)"]);
  assert.deepEqual(found("list.iter().map(|(index, what)| index)"), ["|(index, what)|"]);
  assert.deepEqual(found("fn print(what: &str) {"), ["what: &"]);
  // What is serialized keeps its name, and words within names are no names.
  assert.deepEqual(found("TableOf::Pairs { of: request }; let value_of = |member| member.what; let how_often = 3;"), []);
  assert.deepEqual(found("let found = list.is_empty().then(|| 1);"), []);
});

test("words within snake case are found, in names of tests and questions they are not", () => {
  assert.deepEqual(found("let said_tokens = 1;"), ["said_"]);
  assert.deepEqual(found("let total = as_told + 1;"), ["_told"]);
  assert.deepEqual(found("run.in_play(); call.blamed = None;"), ["in_play"]);
  assert.deepEqual(found("fn a_caveat_is_said_once() {} let untold_usage = !is_told;"), []);
});

test("keys, options and code in comments are no words", () => {
  assert.deepEqual(found('args(["--grey", "oracle.mischief.stall=1"]) // `cancelled`'), []);
  assert.deepEqual(found('let label = "grey";'), ["grey"]);
});

test("British spelling is found, promised keys keep theirs", () => {
  assert.deepEqual(found("// an end that is not recognised, with a neighbour"), ["neighbour", "recognised"]);
  assert.deepEqual(found("// an unrecognised end"), ["unrecognised"]);
  assert.deepEqual(found("fn centre() {} // the center"), ["centre"]);
  assert.deepEqual(found("let is_unrecognised = Sniff::Recognised;"), ["is_unrecognis"]);
  assert.deepEqual(found('row.unrecognised = json["unrecognised"]; error.not_recognised = code("source.not_recognised");'), []);
});

test("other uses are left alone", () => {
  assert.deepEqual(found("let boxed = Box::new(1); // cannot, container"), []);
  assert.deepEqual(found('/// It "said" so of the house.'), []);
  assert.deepEqual(found("let value = list.iter().filter(|cut| *cut > 0);"), []);
});

test("code in Markdown is no text, its other lines are", () => {
  const inMarkdown = (source) => findWords(source, words, "markdown").map(({ found }) => found);
  assert.deepEqual(inMarkdown("The key `cancelled`, ``a `box` ``, and a bounding box."), []);
  assert.deepEqual(inMarkdown("```\nthe box\n```\nthe box"), ["the box"]);
});

test("an exception is written beside the word", () => {
  assert.deepEqual(found("// can not (words: ok, a quotation)"), []);
  assert.deepEqual(found("// words: ok, the text of a server\nlet text = \"can not\";"), []);
  assert.equal(found("// words: ok\n\nlet text = \"can not\";").length, 1);
});

test("a word can be right in one crate", () => {
  const inFile = (file) => findWords("struct Guard;", wordsFor(file, words), "rust").map(({ found }) => found);
  assert.deepEqual(inFile("crates/gateway/src/forward.rs"), ["Guard"]);
  assert.deepEqual(inFile("crates/scenario/src/ir/action.rs"), []);
  for (const { except } of words) for (const reason of Object.values(except)) assert.ok(reason.length > 10, reason);
});

test("a TypeScript file is split into its code and its texts", () => {
  const texts = (source) => splitScript(source).map(({ text }) => text.replaceAll(/ +/g, " ").trim());
  const code = (source) => splitScript(source).map((line) => line.code.replaceAll(/ +/g, " ").trim());
  assert.deepEqual(texts("const a = \"one\"; // two\nconst b = 'three';"), ['"one" // two', "'three'"]);
  assert.deepEqual(code("const a = \"one\"; // two\nconst b = 'three';"), ["const a = ;", "const b = ;"]);
  assert.deepEqual(texts("/** one\n * two */\nconst three = 1;"), ["/** one", "* two */", ""]);
  // Of a template the expressions are code, those in them too.
  assert.deepEqual(texts("const a = `one ${two ? `three ${four}` : \"five\"} six`;"), ['one three "five" six']);
  assert.deepEqual(code("const a = `one ${two({ x })} six`;"), ["const a = ` ${two({ x })} `;"]);
  // Quotes in a regular expression begin no string, and a division no expression.
  assert.deepEqual(texts(String.raw`const a = /["'\/[\]/]/.test(b); const c = "one";`), ['"one"']);
  assert.deepEqual(texts("const a = b / c; const d = \"one\" / 2; // two"), ['"one" // two']);
  assert.deepEqual(texts(String.raw`const a = "one \" two";`), [String.raw`"one \" two"`]);
});

test("a component is split into its code and what it shows", () => {
  const source = `<script lang="ts">
  // one
  const two = "three" in four;
</script>
{#if a < b}
  <p class="five" title="six {seven} eight" aria-label={nine ? "ten" : eleven}>twelve {thirteen("fourteen")}, fifteen</p>
{/if}<b>sixteen</b>{/each}
<!-- seventeen -->
<style>
  /* eighteen */
  .nineteen { color: red; }
</style>`;
  const lines = splitSvelte(source);
  assert.equal(lines.length, source.split("\n").length);
  assert.deepEqual(lines.map(({ text }) => text.replaceAll(/ +/g, " ").trim()), [
    "", "// one", '"three"', "", "", 'six eight "ten" twelve "fourteen" , fifteen', "sixteen", "<!-- seventeen -->", "", "/* eighteen */", "", "",
  ]);
  const code = lines.map((line) => line.code).join("\n");
  for (const word of ["two", "four", "five", "seven", "nine", "eleven", "thirteen", "nineteen"]) assert.ok(code.includes(word), word);
  for (const word of ["one\n", "three", "six ", "eight", "ten\"", "twelve", "fourteen", "fifteen", "sixteen", "eighteen"]) assert.ok(!code.includes(word), word);
});

test("words are found in what the UI shows, and names in its code", () => {
  const inUi = (file, source) => findWords(source, words, languageOf(file)).map(({ line, found }) => `${line} ${found}`);
  assert.deepEqual(inUi("a.svelte", '<script>\n  const said = 1;\n</script>\n<p title="in play">It can not be</p>'), ["2 said =", "4 can not", "4 in play"]);
  assert.deepEqual(inUi("a.svelte", '<p class="can not" data-box="box">cannot</p>'), []);
  assert.deepEqual(inUi("a.ts", 'const grey = "a grey"; // words in code are names'), ["1 grey"]);
  assert.deepEqual(inUi("a.ts", "// words: ok, a key\nconst key = { since: 1 };"), []);
  assert.deepEqual(inUi("a.rs", "let said = 1;"), ["1 let said"]);
  assert.deepEqual(inUi("a.rs", "Some(why) => why,"), ["1 Some(why)"]);
  assert.deepEqual(inUi("a.mjs", "const said = 1;"), ["1 said ="]);
  assert.deepEqual(inUi("a.md", "`can not`"), []);
});

test("every entry says what is better", () => {
  for (const { regex, better } of words) assert.ok(better.length > 0, String(regex));
});
