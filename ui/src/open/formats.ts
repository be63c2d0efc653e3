// What the first page says is recognized. The readers themselves say what they look for when nothing was recognized.

export const recognized: readonly { readonly name: string; readonly files: string; readonly note: string }[] = [
  { name: "Stamina Lab and StaminaBench output", files: "config.yaml, report.json, scenario_N/", note: "folder or zip" },
  { name: "Harbor job, or a folder of jobs", files: "result.json, <trial>/result.json, steps/", note: "single and multi-step" },
  { name: "Terminal-Bench run (tb)", files: "results.json, run_metadata.json", note: "one turn a task" },
  { name: "EvoCode-Bench tasks with jobs", files: "<task>/harbor_jobs/<model>/", note: "one run per model" },
  { name: "EvoCode-Bench published results", files: "index.json, tasks/*.json", note: "one run per model" },
];
