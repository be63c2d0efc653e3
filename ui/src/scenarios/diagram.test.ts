import { describe, expect, it } from "vitest";
import type { DiagramEntity } from "../host/bindings/DiagramEntity";
import { BOX, ROW, depths, layOut } from "./diagram";

function entity(key: string, targets: readonly string[] = [], plain = 3): DiagramEntity {
  const field = (name: string, target: string | null) => ({
    key: name,
    name,
    kind: target === null ? "string" : "reference",
    rules: [],
    target,
    on_delete: null,
    state: "same" as const,
  });
  return {
    key,
    name: key,
    plural: key,
    about: "",
    path: `/${key}`,
    soft_delete: false,
    // words: ok, a key of an entity
    since: 1,
    state: "same",
    actions: [],
    lists: [],
    removed_fields: [],
    removed_actions: [],
    fields: [...targets.map((t) => field(`to_${t}`, t)), ...Array.from({ length: plain }, (_, i) => field(`f${String(i)}`, null))],
  };
}

describe("the diagram of a schema", () => {
  const many = [
    entity("a"),
    entity("b", ["a"]),
    entity("c", ["a", "b"]),
    entity("d", ["c"]),
    entity("e"),
    ...Array.from({ length: 30 }, (_, i) => entity(`x${String(i)}`, ["a"], 8)),
  ];

  it("puts what is referred to at the left", () => {
    expect([...depths(many)].slice(0, 5)).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 2],
      ["d", 3],
      ["e", 0],
    ]);
    const { boxes } = layOut(many, false);
    const x = new Map(boxes.map((box) => [box.entity.key, box.x]));
    for (const box of boxes) for (const f of box.entity.fields) if (f.target !== null) expect(x.get(f.target)! + BOX).toBeLessThan(box.x);
  });

  it("lets no rectangles overlap, and draws every reference", () => {
    for (const compact of [false, true]) {
      const { boxes, edges, width, height } = layOut(many, compact);
      expect(boxes).toHaveLength(many.length);
      for (const a of boxes) {
        expect(a.x + BOX).toBeLessThanOrEqual(width);
        expect(a.y + a.height).toBeLessThanOrEqual(height);
        for (const b of boxes)
          if (a !== b) expect(a.x + BOX <= b.x || b.x + BOX <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true);
      }
      expect(edges).toHaveLength(many.flatMap((e) => e.fields.filter((f) => f.target !== null)).length);
    }
  });

  it("shows removed fields last, without a reference", () => {
    const removed = { key: "gone", name: "gone", kind: "reference", rules: [], target: "a", on_delete: null, state: "removed" as const };
    const all = [entity("a"), { ...entity("b"), removed_fields: [removed] }];
    for (const compact of [false, true]) {
      const { boxes, edges } = layOut(all, compact);
      const [a, b] = ["a", "b"].map((key) => boxes.find((box) => box.entity.key === key)!);
      expect([b!.fields.at(-1), b!.hidden, edges]).toEqual([removed, compact ? 3 : 0, []]);
      expect(b!.height - a!.height).toBe(ROW);
    }
  });

  it("does not hang on a cycle and draws what is there of a damaged schema", () => {
    const { boxes, edges } = layOut([entity("a", ["b"]), entity("b", ["a"]), entity("c", ["nowhere"])], false);
    expect(boxes).toHaveLength(3);
    expect(edges).toHaveLength(2);
    expect(layOut([], false).boxes).toEqual([]);
  });
});
