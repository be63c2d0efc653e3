// What the first page says is recognized. The readers themselves say what they look for when nothing was recognized. A test of the
// crate `ingest` compares `format` with the names of its readers.

export const recognized: readonly { readonly format: string; readonly name: string; readonly files: string; readonly note: string }[] = [
  {
    format: "StaminaBench output",
    name: "Stamina Lab and StaminaBench output",
    files: "config.yaml, report.json, scenario_N/",
    note: "folder or zip",
  },
  {
    format: "Harbor job",
    name: "Harbor job, or a folder of jobs",
    files: "result.json, <trial>/result.json, steps/",
    note: "single and multi-step",
  },
  { format: "Harbor job", name: "EvoCode-Bench tasks with jobs", files: "<task>/harbor_jobs/<model>/", note: "one run per model" },
  { format: "Terminal-Bench run (tb)", name: "Terminal-Bench run (tb)", files: "results.json, run_metadata.json", note: "one turn a task" },
  {
    format: "EvoCode-Bench, published",
    name: "EvoCode-Bench published results",
    files: "index.json, tasks/*.json",
    note: "one run per model",
  },
  {
    format: "LoCoBench-Agent output",
    name: "LoCoBench-Agent output",
    files: "agent_incremental_results_*.jsonl",
    note: "sessions, no tests",
  },
  { format: "Tidy table", name: "Tidy table", files: "*.csv, *.jsonl, *.parquet", note: "a row per attempt" },
  { format: "Scenario pack", name: "Scenario pack", files: "manifest.json", note: "scenarios, no runs" },
];
