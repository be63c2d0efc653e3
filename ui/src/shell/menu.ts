// The native menu bar, made from the list of commands.
import type { MenuSpec } from "../host";
import { commandIds, commands, type MenuTitle } from "./commands";
import { accelerator } from "./keys";

const titles: readonly MenuTitle[] = ["File", "View", "Go", "Help"];

export function menus(): MenuSpec[] {
  return titles.map((title) => ({
    title,
    items: commandIds
      .filter((id) => commands[id].menu === title)
      .map((id) => ({ id, label: commands[id].label, keys: accelerator(commands[id].keys[0]) })),
  }));
}
