import { expect, test } from "vitest";
import type { ImportReport } from "../host/bindings/ImportReport";
import { severityNames } from "../parts/severity";
import { placeInWords, reportAsText, treatmentLabels } from "./reportWords";

const report: ImportReport = {
  source: {
    id: 1,
    name: "jobs",
    label: "jobs",
    path: "/data/jobs",
    zip: false,
    format: "Harbor job",
    status: "ready",
    watch: "notified",
    progress: null,
    message: null,
    runs: 1,
    warnings: 3,
    severities: { notes: 1, repairs: 0, warnings: 2 },
    opened_at: "2026-01-01T00:00:00Z",
  },
  runs: 1,
  episodes: 6,
  turns: 2808,
  not_reached: 97,
  attempts: 2808,
  files_read: 27,
  by_treatment: [],
  by_code: [
    {
      code: "task.no_file",
      severity: "note",
      treatment: "skipped",
      count: 1,
      example: { path: "", code: "task.no_file", message: "", treatment: "skipped" },
    },
  ],
  warnings: [],
  matching: 3,
};

test("the copied report groups by code and names every place", () => {
  const text = reportAsText(report, [
    { path: "a/result.json", code: "json.truncated", message: "It ends in the middle.", treatment: "repaired" },
    { path: "b/result.json", code: "json.truncated", message: "It ends in the middle.", treatment: "repaired" },
    { path: "", code: "task.no_file", message: "No file describes it.", treatment: "skipped" },
  ]);
  expect(text).toContain("1 run, 6 episodes, 2,808 turns (97 more not reached), 2,808 attempts, 27 files read");
  expect(text.match(/json\.truncated \(warning, corrected or completed\)/g)).toHaveLength(1);
  expect(text).toContain("2 warnings, 1 note; nothing in the source was changed");
  expect(text).toContain("  b/result.json: It ends in the middle.");
  expect(text).toContain("  the whole source: No file describes it.");
});

test("what was done has no name of a severity: an entry is a warning, a repair or a note, and one of them only", () => {
  const severities = Object.values(severityNames).map((name) => name.toLowerCase());
  expect(severities).toEqual(["warning", "repair", "note"]);
  for (const treatment of Object.values(treatmentLabels)) {
    for (const severity of severities) expect(treatment.toLowerCase()).not.toContain(severity);
  }
});

test("an entry without a path is of the whole source", () => {
  expect(placeInWords({ path: "" })).toBe("the whole source");
  expect(placeInWords({ path: "a/b.json" })).toBe("a/b.json");
});
