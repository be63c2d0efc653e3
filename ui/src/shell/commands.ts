// The one list of commands: menu, shortcuts, palette and key sheet are all made from it. A page gives a command its
// meaning with `provide` (see keyboard.svelte.ts); a command without a meaning right now is shown nowhere but in the
// key sheet. Adding a command: a line here and a `provide`.

export type Group = "Everywhere" | "Lists and tables" | "Run" | "Turn" | "Compare" | "Live run";
export type MenuTitle = "File" | "View" | "Go" | "Help";

export interface Command {
  readonly label: string;
  readonly group: Group;
  /** Chords such as `Ctrl+K`, `Shift+Enter`, `G`, and sequences such as `g g`. Ctrl is ⌘ on macOS. */
  readonly keys: readonly string[];
  /** Where in the native menu. */
  readonly menu?: MenuTitle;
  /** Offered by the palette. */
  readonly palette?: true;
  /** Handled by the focused grid, list or figure itself; listed in the key sheet. */
  readonly widget?: true;
  /** Opens something that asks for more. */
  readonly icon?: "open" | "find" | "go" | "view" | "edit" | "copy";
}

const list = {
  palette: { label: "Command palette", group: "Everywhere", keys: ["Ctrl+K"], menu: "Go" },
  "open.folder": { label: "Open folder…", group: "Everywhere", keys: ["Ctrl+O"], menu: "File", palette: true, icon: "open" },
  "open.zip": { label: "Open zip…", group: "Everywhere", keys: ["Ctrl+Shift+O"], menu: "File", palette: true, icon: "open" },
  "open.importer": { label: "Open with an importer…", group: "Everywhere", keys: [], menu: "File", palette: true, icon: "open" },
  "open.sample": { label: "Look at the sample", group: "Everywhere", keys: [], menu: "File", palette: true, icon: "open" },
  tour: { label: "Tour of a run", group: "Everywhere", keys: [], menu: "Help", palette: true, icon: "view" },
  find: { label: "Find on this page", group: "Everywhere", keys: ["Ctrl+F"], menu: "Go" },
  "search.text": { label: "Search all text", group: "Everywhere", keys: ["Ctrl+Shift+F"], menu: "Go", palette: true, icon: "find" },
  "go.library": { label: "Library", group: "Everywhere", keys: [], menu: "Go", palette: true, icon: "go" },
  "go.compare": { label: "Compare", group: "Everywhere", keys: [], menu: "Go", palette: true, icon: "go" },
  "go.matrix": { label: "Matrix", group: "Everywhere", keys: [], menu: "Go", palette: true, icon: "go" },
  "go.failures": { label: "Failures", group: "Everywhere", keys: [], menu: "Go", palette: true, icon: "go" },
  "go.scenarios": { label: "Scenarios", group: "Everywhere", keys: [], menu: "Go", palette: true, icon: "go" },
  "run.new": { label: "New run…", group: "Everywhere", keys: ["Ctrl+N"], menu: "File", palette: true, icon: "edit" },
  "go.live": { label: "Live runs", group: "Everywhere", keys: [], menu: "Go", palette: true, icon: "go" },
  "go.finished": { label: "Finished runs", group: "Everywhere", keys: [], menu: "Go", palette: true, icon: "go" },
  images: { label: "Images of harnesses…", group: "Everywhere", keys: [], palette: true, icon: "view" },
  prices: { label: "Prices of models…", group: "Everywhere", keys: [], palette: true, icon: "edit" },
  "run.load": { label: "Load this run into the form", group: "Run", keys: [], palette: true, icon: "edit" },
  "go.start": { label: "Welcome page", group: "Everywhere", keys: [], menu: "Help", palette: true, icon: "go" },
  "go.back": { label: "Back", group: "Everywhere", keys: ["Alt+ArrowLeft"], menu: "Go", palette: true, icon: "go" },
  "go.forward": { label: "Forward", group: "Everywhere", keys: ["Alt+ArrowRight"], menu: "Go", palette: true, icon: "go" },
  "go.up": { label: "Up one level", group: "Everywhere", keys: ["Escape"], menu: "Go" },
  export: { label: "Export…", group: "Everywhere", keys: ["Ctrl+E"], menu: "File", palette: true, icon: "copy" },
  "link.copy": { label: "Copy link to this page", group: "Everywhere", keys: [], menu: "File", palette: true, icon: "copy" },
  "view.save": { label: "Save as view…", group: "Everywhere", keys: [], palette: true, icon: "edit" },
  about: { label: "About Stamina Lab…", group: "Everywhere", keys: [], menu: "Help", palette: true, icon: "view" },
  quit: { label: "Quit", group: "Everywhere", keys: ["Ctrl+Q"], menu: "File", palette: true, icon: "go" },
  report: { label: "Import report", group: "Everywhere", keys: [], menu: "View", palette: true, icon: "view" },
  policy: { label: "Events and censoring…", group: "Everywhere", keys: [], menu: "View", palette: true, icon: "view" },
  "theme.system": { label: "Theme: as the system", group: "Everywhere", keys: [], menu: "View", palette: true, icon: "view" },
  "theme.light": { label: "Theme: light", group: "Everywhere", keys: [], menu: "View", palette: true, icon: "view" },
  "theme.dark": { label: "Theme: dark", group: "Everywhere", keys: [], menu: "View", palette: true, icon: "view" },
  "keys.single": { label: "Toggle single-key shortcuts", group: "Everywhere", keys: [], menu: "Help", palette: true, icon: "edit" },
  explain: { label: "Explain this number…", group: "Everywhere", keys: ["e"], palette: true, icon: "view" },
  keys: { label: "Keyboard", group: "Everywhere", keys: ["?"], menu: "Help", palette: true, icon: "view" },

  "list.next": { label: "Next row", group: "Lists and tables", keys: ["j", "ArrowDown"] },
  "list.previous": { label: "Previous row", group: "Lists and tables", keys: ["k", "ArrowUp"] },
  "list.first": { label: "First row", group: "Lists and tables", keys: ["g g", "Home"] },
  "list.last": { label: "Last row", group: "Lists and tables", keys: ["G", "End"] },
  "list.open": { label: "Open", group: "Lists and tables", keys: ["Enter"] },
  "list.peek": { label: "Peek", group: "Lists and tables", keys: ["Space"] },
  "list.select": { label: "Select", group: "Lists and tables", keys: ["x"] },
  "list.extend.next": { label: "Extend selection down", group: "Lists and tables", keys: ["J"] },
  "list.extend.previous": { label: "Extend selection up", group: "Lists and tables", keys: ["K"] },
  filter: { label: "Filter", group: "Lists and tables", keys: ["/"] },
  "filter.clear": { label: "Clear filters", group: "Lists and tables", keys: [], palette: true, icon: "edit" },
  "runs.compare": { label: "Compare selected runs", group: "Lists and tables", keys: ["c"], palette: true, icon: "go" },
  "runs.tag": { label: "Tag selected runs…", group: "Lists and tables", keys: [], palette: true, icon: "edit" },
  "source.rescan": { label: "Look for changes in this source now", group: "Lists and tables", keys: [], palette: true, icon: "view" },
  "source.remove": { label: "Remove this source from the library", group: "Lists and tables", keys: [], palette: true, icon: "edit" },

  "scenarios.generate": { label: "Generate scenarios…", group: "Everywhere", keys: [], palette: true, icon: "edit" },
  "scenarios.validate": { label: "Validate this pack…", group: "Everywhere", keys: [], palette: true, icon: "view" },

  "grid.move": { label: "Move in the grid", group: "Run", keys: ["ArrowLeft", "ArrowUp", "ArrowDown", "ArrowRight"], widget: true },
  "grid.open": { label: "Open turn", group: "Run", keys: ["Enter"], widget: true },
  "failure.next": { label: "Next first failure", group: "Run", keys: ["n"], palette: true, icon: "go" },
  "failure.previous": { label: "Previous first failure", group: "Run", keys: ["N"], palette: true, icon: "go" },
  "run.table": { label: "Figures or table", group: "Run", keys: ["t"], palette: true, icon: "view" },

  "turn.previous": { label: "Previous turn", group: "Turn", keys: ["ArrowLeft"], palette: true, icon: "go" },
  "turn.next": { label: "Next turn", group: "Turn", keys: ["ArrowRight"], palette: true, icon: "go" },
  "episode.previous": { label: "Previous episode", group: "Turn", keys: ["["], palette: true, icon: "go" },
  "episode.next": { label: "Next episode", group: "Turn", keys: ["]"], palette: true, icon: "go" },
  attempt: { label: "Attempt 1 to 9", group: "Turn", keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"] },
  "test.next": { label: "Next failing test", group: "Turn", keys: ["n"], palette: true, icon: "go" },
  "test.previous": { label: "Previous failing test", group: "Turn", keys: ["N"], palette: true, icon: "go" },
  "pane.request": { label: "Request", group: "Turn", keys: ["r"], palette: true, icon: "view" },
  "pane.tests": { label: "Tests", group: "Turn", keys: ["t"], palette: true, icon: "view" },
  "pane.code": { label: "Code", group: "Turn", keys: ["d"], palette: true, icon: "view" },
  "pane.transcript": { label: "Transcript", group: "Turn", keys: ["s"], palette: true, icon: "view" },
  "pane.logs": { label: "Logs", group: "Turn", keys: ["l"], palette: true, icon: "view" },
  "steps.unfold": { label: "Unfold all tool calls", group: "Turn", keys: ["o"], palette: true, icon: "view" },

  "compare.add": { label: "Add a run or group…", group: "Compare", keys: ["a"], palette: true, icon: "edit" },
  "compare.figure": { label: "Next figure", group: "Compare", keys: ["f"], palette: true, icon: "view" },
  "compare.bands": { label: "Bands of all, or of the reference", group: "Compare", keys: ["b"], palette: true, icon: "view" },
  "compare.table": { label: "Figures or tables", group: "Compare", keys: ["t"], palette: true, icon: "view" },
  "compare.mode": { label: "All, different, failures or errors", group: "Compare", keys: ["m"], palette: true, icon: "view" },
  "compare.beside.previous": { label: "Previous run beside the reference", group: "Compare", keys: ["ArrowLeft"] },
  "compare.beside.next": { label: "Next run beside the reference", group: "Compare", keys: ["ArrowRight"] },
  "compare.member": {
    label: "Move a run to the left or right",
    group: "Compare",
    keys: ["Shift+ArrowLeft", "Shift+ArrowRight"],
    widget: true,
  },
  "sides.next": { label: "Next disagreement", group: "Compare", keys: ["n"], palette: true, icon: "go" },
  "sides.previous": { label: "Previous disagreement", group: "Compare", keys: ["N"], palette: true, icon: "go" },
  "sides.swap": { label: "Swap left and right", group: "Compare", keys: ["w"], palette: true, icon: "edit" },
  "sides.together": { label: "Toggle scrolling together", group: "Compare", keys: ["y"], palette: true, icon: "view" },

  "live.pause": { label: "Pause or resume this run", group: "Live run", keys: ["p"], palette: true, icon: "edit" },
  "live.stop": { label: "Stop this run…", group: "Live run", keys: [], palette: true, icon: "edit" },
  "live.log": { label: "Next log", group: "Live run", keys: ["l"], palette: true, icon: "view" },
  "live.hold": { label: "Pause or resume the log", group: "Live run", keys: ["h"], palette: true, icon: "view" },
} as const satisfies Record<string, Command>;

export type CommandId = keyof typeof list;
export const commands: Readonly<Record<CommandId, Command>> = list;
export const commandIds = Object.keys(list) as CommandId[];
export const isCommandId = (word: string): word is CommandId => Object.hasOwn(list, word);
