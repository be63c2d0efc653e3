// The desktop app: one Tauri command, `rpc`, carries every command of the workbench. Dragged folders arrive with their
// paths through the webview's own event, not through DOM events.
import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import { Menu, MenuItem, PredefinedMenuItem, Submenu } from "@tauri-apps/api/menu";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { open, save } from "@tauri-apps/plugin-dialog";
import { asCallError, copyPicture, copyText, download, isMac, type Host, type InFlight } from "./host";

declare global {
  interface Window {
    /** Paths and links from the command line of the desktop app. */
    __STAMINA_OPENED__?: string[];
  }
}

/** Listening begins later than it is asked for; stopping must work in between. */
function stoppable(begin: Promise<() => void>): () => void {
  let stopped = false;
  let stop: (() => void) | undefined;
  void begin.then((unlisten) => {
    if (stopped) unlisten();
    else stop = unlisten;
  });
  return () => {
    stopped = true;
    stop?.();
  };
}

export function tauriHost(): Host {
  return {
    kind: "desktop",
    mac: isMac(),
    async call(name, request) {
      try {
        return await invoke("rpc", { name, payload: request });
      } catch (thrown) {
        throw asCallError(thrown);
      }
    },
    async pickFolder() {
      return open({ directory: true, title: "Open a results folder" });
    },
    async pickZip() {
      return open({ title: "Open zipped results", filters: [{ name: "Zip", extensions: ["zip"] }] });
    },
    onDrop(notify) {
      return stoppable(
        getCurrentWebview().onDragDropEvent(({ payload }) => {
          if (payload.type === "enter") notify({ kind: "over", paths: payload.paths });
          else if (payload.type === "leave") notify({ kind: "leave" });
          else if (payload.type === "drop") notify({ kind: "drop", paths: payload.paths });
        }),
      );
    },
    onOpened(notify) {
      // What stood on the command line lies here before the UI runs; what comes later comes as an event.
      for (const pathOrLink of window.__STAMINA_OPENED__?.splice(0) ?? []) notify(pathOrLink);
      return stoppable(
        listen<string>("opened", ({ payload }) => {
          notify(payload);
        }),
      );
    },
    onQuitAsked(notify) {
      return stoppable(
        listen<InFlight>("quit-asked", ({ payload }) => {
          notify(payload);
        }),
      );
    },
    async close() {
      await invoke("close");
    },
    async quit(atOnce) {
      await invoke("quit", { atOnce });
    },
    async setMenu(menus, run) {
      const submenus = await Promise.all(
        menus.map(async ({ title, items }) =>
          Submenu.new({
            text: title,
            items: await Promise.all(
              items.map(async (item): Promise<MenuItem | PredefinedMenuItem> =>
                item === "separator"
                  ? PredefinedMenuItem.new({ item: "Separator" })
                  : MenuItem.new({
                      id: item.id,
                      text: item.label,
                      ...(item.keys === null ? {} : { accelerator: item.keys }),
                      action: () => {
                        run(item.id);
                      },
                    }),
              ),
            ),
          }),
        ),
      );
      await (await Menu.new({ items: submenus })).setAsAppMenu();
    },
    copy: copyText,
    copyPicture,
    async pickSave(fileName) {
      const ending = fileName.split(".").at(-1) ?? "";
      return save({ title: "Save", defaultPath: fileName, filters: [{ name: ending.toUpperCase(), extensions: [ending] }] });
    },
    download,
  };
}
