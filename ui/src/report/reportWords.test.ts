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
  const text = reportAsText(
    report,
    [
      { path: "a/result.json", code: "json.truncated", message: "It ends in the middle.", treatment: "repaired" },
      { path: "b/result.json", code: "json.truncated", message: "It ends in the middle.", treatment: "repaired" },
      { path: "", code: "task.no_file", message: "No file describes it.", treatment: "skipped" },
    ],
    null,
  );
  expect(text).toContain("1 run, 6 episodes, 2,808 turns (97 more not reached), 2,808 attempts, 27 files read");
  expect(text.match(/json\.truncated \(warning, corrected or completed\)/g)).toHaveLength(1);
  expect(text).toContain("2 warnings, 1 note; nothing in the source was changed");
  expect(text).toContain("  b/result.json: It ends in the middle.");
  expect(text).toContain("  the whole source: No file describes it.");
});

test("a copied report that is cut counts what the source has, and says how many entries are left out", () => {
  const cut: ImportReport = {
    ...report,
    source: { ...report.source, warnings: 120_003, severities: { notes: 120_000, repairs: 1, warnings: 2 } },
    matching: 120_003,
  };
  const entry = { path: "a/result.json", code: "json.truncated", message: "It ends.", treatment: "repaired" } as const;
  const text = reportAsText(cut, [entry, { ...entry, path: "b/result.json" }], null);
  expect(text).toContain("2 warnings, 1 repair, 120,000 notes; nothing in the source was changed");
  expect(text).toMatch(/\n\n… 120,001 more entries\n$/);
  expect(reportAsText(cut, [entry], "harbor.opus")).toContain("Run harbor.opus: 120,003 entries; nothing in the source was changed");
  const ofRun = reportAsText({ ...cut, matching: 1 }, [entry], "harbor.opus");
  expect(ofRun).toContain("Run harbor.opus: 1 warning; nothing in the source was changed");
  expect(ofRun).not.toContain("…");
});

test("warnings stand before repairs and notes in a copied report, each as it was dealt with", () => {
  const rule = (code: string, severity: "note" | "repair" | "warning"): ImportReport["by_code"][number] => ({
    code,
    severity,
    treatment: "skipped",
    count: 1,
    example: { path: "", code, message: "", treatment: "skipped" },
  });
  const entry = (code: string, treatment: "skipped" | "repaired"): ImportReport["warnings"][number] => ({
    path: "p",
    code,
    message: "m",
    treatment,
  });
  const text = reportAsText(
    {
      ...report,
      by_code: [rule("a.note", "note"), rule("b.repair", "repair"), rule("c.warning", "warning"), rule("d.warning", "warning")],
    },
    [
      entry("a.note", "skipped"),
      entry("b.repair", "repaired"),
      entry("c.warning", "skipped"),
      entry("c.warning", "repaired"),
      entry("c.warning", "skipped"),
      entry("d.warning", "skipped"),
    ],
    null,
  );
  expect(text.split("\n").filter((line) => /^\w\.\w+ /.test(line))).toEqual([
    "c.warning (warning, left out)",
    "c.warning (warning, corrected or completed)",
    "d.warning (warning, left out)",
    "b.repair (repair, corrected or completed)",
    "a.note (note, left out)",
  ]);
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
