import { expect, test } from "vitest";
import { commandIds, commands } from "./commands";
import { accelerator, caps, isSingleKey, matches, type Pressed } from "./keys";
import { menus } from "./menu";

function press(chord: string): Pressed {
  const parts = chord.split("+");
  const key = parts.at(-1) ?? "";
  return {
    key: key === "Space" ? " " : key,
    ctrlKey: parts.includes("Ctrl"),
    metaKey: false,
    altKey: parts.includes("Alt"),
    shiftKey: parts.includes("Shift") || (parts.length === 1 && /^[A-Z?]$/.test(key)),
  };
}

test("every command can be reached by a key, the palette or the menu", () => {
  const inMenus = new Set(menus().flatMap((menu) => menu.items.flatMap((item) => (item === "separator" ? [] : [item.id]))));
  for (const id of commandIds) {
    const { keys, palette } = commands[id];
    expect(keys.length > 0 || palette === true || inMenus.has(id), id).toBe(true);
  }
});

test("every command outside the menu and the palette has a line in the key sheet", () => {
  for (const id of commandIds) {
    const { keys, palette, menu } = commands[id];
    if (!palette && !menu) expect(keys.length, id).toBeGreaterThan(0);
  }
});

test("every chord matches its own stroke and reads as key caps", () => {
  for (const id of commandIds) {
    for (const keys of commands[id].keys) {
      for (const chord of keys.split(" ")) expect(matches(chord, press(chord), false), `${id} ${chord}`).toBe(true);
      expect(caps(keys, false).join("")).not.toBe("");
    }
  }
});

test("no two commands of everywhere share a key, with each other or with a page", () => {
  const everywhere = commandIds.filter((id) => commands[id].group === "Everywhere");
  for (const id of everywhere) {
    for (const key of commands[id].keys) {
      const others = commandIds.filter((other) => other !== id && commands[other].keys.includes(key));
      expect(others, `${id} ${key}`).toEqual([]);
    }
  }
});

test("no two commands of one page share a key", () => {
  for (const group of ["Lists and tables", "Run", "Turn", "Compare", "Live run"] as const) {
    const keys = commandIds.filter((id) => commands[id].group === group && !commands[id].widget).flatMap((id) => [...commands[id].keys]);
    expect(new Set(keys).size, group).toBe(keys.length);
  }
});

test("modifiers matter, and ⌘ takes the place of Ctrl on macOS", () => {
  const k = press("Ctrl+K");
  expect(matches("Ctrl+K", { ...k, key: "k" }, false)).toBe(true);
  expect(matches("Ctrl+K", { ...k, key: "k", shiftKey: true }, false)).toBe(false);
  expect(matches("k", { ...k, key: "k" }, false)).toBe(false);
  expect(matches("Ctrl+K", { ...k, ctrlKey: false, metaKey: true, key: "k" }, true)).toBe(true);
  expect(matches("Ctrl+K", { ...k, key: "k" }, true)).toBe(false);
  expect(matches("G", { ...press("G"), key: "g", shiftKey: false }, false)).toBe(false);
  expect(matches("ArrowLeft", press("Alt+ArrowLeft"), false)).toBe(false);
});

test("what is a single key can be turned off", () => {
  expect(["j", "g g", "?", "/", "1"].every(isSingleKey)).toBe(true);
  expect(["Ctrl+K", "Escape", "ArrowDown", "Space", "Alt+ArrowLeft"].some(isSingleKey)).toBe(false);
  expect(accelerator("Ctrl+Shift+F")).toBe("CmdOrCtrl+Shift+F");
  expect(accelerator("Alt+ArrowLeft")).toBe("Alt+Left");
  expect(accelerator("?")).toBeNull();
});
