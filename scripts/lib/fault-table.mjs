// The table that `npm run harnesses -- --faults` prints, from the lines of crates/runner/tests/docker_faults.rs: one JSON
// object for each fault and harness, `{"fault", "harness", "must", "found"}`.

/** What these lines tell, in their order. The runner of the tests may have written something before one of them. */
export function foundIn(stdout) {
  return [...stdout.matchAll(/\{"[^\n]*\}$/gm)].map(([line]) => parsed(line)).filter((cell) => cell !== null);
}

function parsed(line) {
  try {
    const cell = JSON.parse(line);
    return ["fault", "harness", "must", "found"].every((key) => typeof cell[key] === "string") ? cell : null;
  } catch {
    return null;
  }
}

/** One row for each fault, one column for each of the harnesses `{ key, title }`; what differs from what must be is bold. */
export function table(cells, columns) {
  const rows = faults(cells).map(({ fault, must }) => [fault, must, ...columns.map(({ key }) => shown(at(cells, fault, key), must))]);
  const head = ["fault", "must be", ...columns.map(({ title }) => title)];
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(escaped).join(" | ")} |\n`).join("");
}

/** What differs from what must be, in words; a fault that a harness tells nothing of differs, too. */
export function differences(cells, columns) {
  return faults(cells).flatMap(({ fault, must }) =>
    columns.flatMap(({ key, title }) => {
      const found = at(cells, fault, key);
      return found === must ? [] : [`${title}, ${fault}: ${found ?? "unknown"}, must be ${must}`];
    }),
  );
}

const shown = (found, must) => (found === must ? found : `**${found ?? "unknown"}**`);
const at = (cells, fault, harness) => cells.find((cell) => cell.fault === fault && cell.harness === harness)?.found;
const escaped = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** Each fault once, in the order in which they were told. */
function faults(cells) {
  return [...new Map(cells.map(({ fault, must }) => [fault, { fault, must }])).values()];
}
