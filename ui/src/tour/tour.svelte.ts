// Whether the tour of the page of a run is shown: by itself at the first look at the sample, later when it is asked for.
import { call } from "../host";
import { router } from "../shell/router.svelte";
import { Remembered, isBoolean } from "../shell/settings.svelte";
import { stepFrom } from "./steps";

const seen = new Remembered("tourSeen", false, isBoolean);
let step = $state<number | undefined>();

export const tour = {
  /** The step that is shown; nothing without a tour. */
  get step(): number | undefined {
    return step;
  },
  /** Whether it was shown before. */
  get seen(): boolean {
    return seen.value;
  },
  /** Begins on the page that is there. */
  begin(): void {
    seen.value = true;
    step = 0;
  },
  move(by: 1 | -1): void {
    if (step !== undefined) step = stepFrom(step, by);
  },
  end(): void {
    step = undefined;
  },
};

/** Shows the tour on the first run of a source. Whether the source has one. */
export async function beginTour(source: number): Promise<boolean> {
  const page = await call("list_runs", {
    text: "",
    sources: [source],
    benchmarks: [],
    harnesses: [],
    models: [],
    tags: [],
    real_only: false,
    with_warnings: false,
    min_episodes: 2,
    sort: "date",
    ascending: false,
    group: "none",
    offset: 0,
    limit: 1,
  });
  const first = page.rows[0];
  if (!first) return false;
  router.go({ page: "run", run: first.id, query: {} });
  tour.begin();
  return true;
}
