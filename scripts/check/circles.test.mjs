// Circles between files: what counts as one, and that there are few in the crates.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_CIRCLES, circles, circlesOfCrates, usedPaths, usesOf } from "./circles.mjs";

const found = (sources) => circles(usesOf(sources));

test("a use is taken apart", () => {
  assert.deepEqual(usedPaths("super::{a::{self, B}, c as d}"), ["super::a::self", "super::a::B", "super::c"]);
});

test("files that use each other are a circle, by themselves or through others", () => {
  assert.deepEqual(found({ "lib.rs": "mod a; mod b;", "a.rs": "use crate::b::B;", "b.rs": "fn b() { crate::a::go() }" }), [["a", "b"]]);
  assert.deepEqual(found({ "a.rs": "use crate::b;", "b.rs": "use super::c::C;", "c.rs": "use crate::{a::A};" }), [["a", "b", "c"]]);
  assert.deepEqual(found({ "a.rs": "use crate::b;", "b.rs": "// use crate::a;\n#[cfg(test)]\nmod tests { use crate::a; }" }), []);
});

test("a file may use those of the folders in which it lies", () => {
  assert.deepEqual(found({ "a.rs": "mod b;\nuse b::go;\nfn a() { go() }", "a/b.rs": "use super::A;" }), []);
});

test("a name that is only passed on is that of the file that declares it", () => {
  const sources = { "a.rs": "mod b;\npub use b::B;\nuse crate::c::C;\nfn a(_: C) {}", "a/b.rs": "pub struct B;", "c.rs": "use crate::a::B;\npub struct C(B);" };
  assert.deepEqual(found(sources), []);
  assert.deepEqual(found({ ...sources, "c.rs": "use crate::a::A;" }), [["a", "c"]]);
});

test("files of the crates use one another in few circles", () => {
  const all = circlesOfCrates();
  assert.ok(all.length <= MOST_CIRCLES, `more than ${MOST_CIRCLES} circles:\n${all.map(({ crate, files }) => `${crate}: ${files.join(", ")}`).join("\n")}`);
});
