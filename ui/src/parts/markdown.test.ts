import { describe, expect, it } from "vitest";
import { type Block, blockText, findRequirement, findWords, parse, requirementTerms } from "./markdown";

describe("markdown", () => {
  it("reads what requests are made of", () => {
    const blocks = parse(
      "# Title\n\nText with `code` and **bold**.\n\n```go\nfunc main() {}\n```\n\n1. one\n2. two\n   - nested\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said\n\n---\n- [x] done",
    );
    expect(blocks.map((b) => b.kind)).toEqual(["heading", "paragraph", "code", "list", "table", "quote", "rule", "list"]);
    expect(blocks[1]).toEqual({
      kind: "paragraph",
      inline: [
        { kind: "text", text: "Text with " },
        { kind: "code", text: "code" },
        { kind: "text", text: " and " },
        { kind: "strong", children: [{ kind: "text", text: "bold" }] },
        { kind: "text", text: "." },
      ],
    });
    expect(blocks[2]).toEqual({ kind: "code", text: "func main() {}", lang: "go" });
    const task = blocks[7] as Extract<Block, { kind: "list" }>;
    expect(task.items[0]?.checked).toBe(true);
    expect(blockText(task)).toBe("done");
  });

  it("shows markup of a hostile text as text", () => {
    const text =
      'a <img src=x onerror="alert(1)"> b\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) ![p](http://example.test/a.png)';
    const shown = parse(text).map(blockText).join("\n");
    expect(shown).toContain('<img src=x onerror="alert(1)">');
    expect(shown).toContain("<script>alert(1)</script>");
    expect(shown).toContain("[image: p]");
    const link = parse("[x](javascript:alert(1))")[0];
    expect(link).toEqual({
      kind: "paragraph",
      inline: [{ kind: "link", href: "javascript:alert(1)", children: [{ kind: "text", text: "x" }] }],
    });
  });

  it("writes entities and escapes as the characters they stand for", () => {
    expect(parse("a &lt; b &amp;&amp; c \\* d `x < y`").map(blockText)).toEqual(["a < b && c * d x < y"]);
  });

  it("takes anything without throwing", () => {
    for (const text of ["", "\u0000", ">".repeat(5000), "- ".repeat(3000), "[".repeat(2000), "*_".repeat(2000), "x".repeat(300_000)]) {
      expect(Array.isArray(parse(text))).toBe(true);
    }
  });
});

describe("words of a search", () => {
  const blocks = parse("# Fees\n\nA rental has a day.\n\nThe **fee of a rental** is due.\n\n- a rental\n- its fee");
  it("are found where they stand so, else where all of them do, else where most do", () => {
    expect(findWords(blocks, "Fee of a Rental")).toBe(2);
    expect(findWords(blocks, "rental fee")).toBe(2);
    expect(findWords(blocks, "rental day")).toBe(1);
    expect(findWords(blocks, "fees zebra")).toBe(0);
    expect(findWords(blocks, "zebra")).toBe(-1);
    expect(findWords(blocks, " ")).toBe(-1);
  });
  it("are letters and digits, found by their beginning, also over the end of a line", () => {
    expect(findWords(parse("intro\n\nthe ski rental fee"), "ski-rental")).toBe(1);
    expect(findWords(parse("Provided.\n\nAn id."), "id")).toBe(1);
    expect(findWords(parse("a fee, a rental\n\nthe rental\nfee"), "rental fee")).toBe(1);
    expect(blockText(parse("the rental\nfee")[0] as Block)).toBe("the rental fee");
  });
});

describe("requirement", () => {
  const blocks = parse("# Scoring\n\nsome text on components\n\n## Components\n\nmore\n\n`detect-evidence` rules");
  it("is found by its name, else by its last part, headings first", () => {
    expect(findRequirement(blocks, "prioritize.components")).toBe(2);
    expect(findRequirement(blocks, "detect-evidence")).toBe(4);
    expect(findRequirement(blocks, "nothing.here")).toBe(-1);
    expect(findRequirement(blocks, null)).toBe(-1);
    expect(requirementTerms("a.b")).toEqual(["a.b"]);
  });
});
