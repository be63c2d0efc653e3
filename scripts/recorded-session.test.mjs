// What the recorder keeps of a server is what the server sent, wherever the socket cuts it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Pieces } from "./lib/recorded-session.mjs";

test("a character that the socket cuts in two is kept whole", () => {
  const sent = "data: {\"content\":\"Grüße, 你好 🙂\"}\r\n";
  const bytes = Buffer.from(sent, "utf8");
  for (let size = 1; size <= bytes.length; size += 1) {
    const pieces = new Pieces();
    for (let at = 0; at < bytes.length; at += size) pieces.addBytes(bytes.subarray(at, at + size), at);
    assert.equal(pieces.map((piece) => piece.text).join(""), sent, `pieces of ${String(size)} bytes`);
    assert.ok(pieces.every((piece) => piece.text.length > 0));
    assert.deepEqual(JSON.parse(JSON.stringify(pieces)), [...pieces]);
  }
});
