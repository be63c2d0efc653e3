// Where the rectangles of a schema's diagram stand and how its references run. Pure: measured in pixels, drawn elsewhere.
//
// References form no cycle, so every entity has a depth: 0 without references, else one more than the deepest that it
// refers to. Depth gives the column; inside a column an entity stands near those that it refers to.
import type { DiagramEntity } from "../host/bindings/DiagramEntity";
import type { DiagramField } from "../host/bindings/DiagramField";

export const BOX = 216;
export const GAP_X = 72;
export const GAP_Y = 20;
export const HEAD = 26;
export const ROW = 20;
const PAD = 16;
/** Rectangles of one column; more go into a further column of the same depth. */
const TALLEST = 1200;

export interface Box {
  readonly entity: DiagramEntity;
  /** The fields that are shown, those that were removed last; the rest is counted. */
  readonly fields: readonly DiagramField[];
  readonly hidden: number;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

export interface Edge {
  readonly from: string;
  readonly field: string;
  readonly to: string;
  readonly path: string;
}

export interface Diagram {
  readonly boxes: readonly Box[];
  readonly edges: readonly Edge[];
  readonly width: number;
  readonly height: number;
}

/** Depth of every entity; a reference to what is not there counts as none. */
export function depths(entities: readonly DiagramEntity[]): ReadonlyMap<string, number> {
  const byKey = new Map(entities.map((entity) => [entity.key, entity]));
  const known = new Map<string, number>();
  const under = new Set<string>();
  const depth = (key: string): number => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const entity = byKey.get(key);
    // A cycle can only come from a damaged pack; it must not hang the page.
    if (!entity || under.has(key)) return -1;
    under.add(key);
    const below = entity.fields.map((field) => (field.target === null ? -1 : depth(field.target)));
    under.delete(key);
    const own = Math.max(-1, ...below) + 1;
    known.set(key, own);
    return own;
  };
  for (const entity of entities) depth(entity.key);
  return known;
}

/** Lays out a schema. Compact ones show references and what changed; the others show all fields. */
export function layOut(entities: readonly DiagramEntity[], compact: boolean): Diagram {
  const depth = depths(entities);
  const shown = (entity: DiagramEntity): readonly DiagramField[] =>
    compact ? entity.fields.filter((f) => f.target !== null || f.state !== "same") : entity.fields;
  const left = (entity: DiagramEntity): number => entity.fields.length - shown(entity).length;
  const heightOf = (entity: DiagramEntity): number => {
    const rows = shown(entity).length + entity.removed_fields.length;
    return HEAD + (rows + (left(entity) > 0 ? 1 : 0)) * ROW + 6;
  };
  const deepest = Math.max(0, ...depth.values());
  const columns: DiagramEntity[][] = [];
  for (let level = 0; level <= deepest; level += 1) {
    let column: DiagramEntity[] = [];
    let height = 0;
    for (const entity of entities.filter((e) => depth.get(e.key) === level)) {
      const own = heightOf(entity) + GAP_Y;
      if (height + own > TALLEST && column.length > 0) {
        columns.push(column);
        column = [];
        height = 0;
      }
      column.push(entity);
      height += own;
    }
    if (column.length > 0) columns.push(column);
  }
  const placed = new Map<string, Box>();
  columns.forEach((column, index) => {
    const targetCenter = (entity: DiagramEntity): number => {
      const targets = entity.fields.flatMap((f) => {
        const box = f.target === null ? undefined : placed.get(f.target);
        return box ? [box.y + box.height / 2] : [];
      });
      return targets.length === 0 ? 0 : targets.reduce((sum, y) => sum + y, 0) / targets.length;
    };
    const targetCenters = new Map(column.map((entity) => [entity.key, targetCenter(entity)]));
    // Stable: equal centers keep the order of the schema.
    const sorted = [...column].sort((a, b) => (targetCenters.get(a.key) ?? 0) - (targetCenters.get(b.key) ?? 0));
    let y = PAD;
    for (const entity of sorted) {
      const fields = [...shown(entity), ...entity.removed_fields];
      const height = heightOf(entity);
      placed.set(entity.key, { entity, fields, hidden: left(entity), x: PAD + index * (BOX + GAP_X), y, height });
      y += height + GAP_Y;
    }
  });
  const boxes = [...placed.values()];
  const edges = boxes.flatMap((box) =>
    box.entity.fields.flatMap((field) => {
      const to = field.target === null ? undefined : placed.get(field.target);
      if (!to) return [];
      const row = box.fields.indexOf(field);
      const y1 = box.y + (row < 0 ? HEAD / 2 : HEAD + row * ROW + ROW / 2);
      const x1 = box.x;
      const x2 = to.x + BOX;
      const y2 = to.y + HEAD / 2;
      const bend = Math.max(28, (x1 - x2) / 2);
      return [
        {
          from: box.entity.key,
          field: field.key,
          to: to.entity.key,
          path: `M${String(x1)} ${String(y1)}C${String(x1 - bend)} ${String(y1)} ${String(x2 + bend)} ${String(y2)} ${String(x2)} ${String(y2)}`,
        },
      ];
    }),
  );
  return {
    boxes,
    edges,
    width: PAD * 2 + Math.max(0, columns.length - 1) * (BOX + GAP_X) + BOX,
    height: Math.max(0, ...boxes.map((box) => box.y + box.height)) + PAD,
  };
}
