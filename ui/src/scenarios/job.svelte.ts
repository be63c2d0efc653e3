// A job that is followed until it ends: asked again and again while a dialog looks at it. Jobs continue when nobody looks.
import { asCallError, call, type CallError } from "../host";
import type { Job } from "../host/bindings/Job";

const EVERY_MS = 300;

export class Following {
  job: Job | undefined = $state.raw();
  error: CallError | undefined = $state.raw();
  #number: number | undefined;
  #left = false;
  #started = false;

  get running(): boolean {
    return this.job?.state === "running";
  }

  /** Follows a job until it has ended or another one is followed. */
  async follow(number: number, ended?: (job: Job) => void): Promise<void> {
    // A dialog that was closed while something was asked looks at nothing any more.
    if (this.#left) return;
    this.#number = number;
    this.error = undefined;
    for (;;) {
      try {
        const job = await call("get_job", { job: number });
        if (this.#number !== number) return;
        this.job = job;
        if (job.state !== "running") {
          ended?.(job);
          return;
        }
      } catch (thrown) {
        if (this.#number !== number) return;
        this.error = asCallError(thrown);
        return;
      }
      await new Promise((done) => setTimeout(done, EVERY_MS));
      if (this.#number !== number) return;
    }
  }

  /** Follows the latest running job of this kind, unless something was started meanwhile. True if there is one. */
  async resume(wanted: (job: Job) => boolean, ended?: (job: Job) => void): Promise<boolean> {
    let going: Job | undefined;
    try {
      const { jobs } = await call("list_jobs", {});
      going = jobs.find((job) => job.state === "running" && wanted(job));
    } catch {
      // Without the list a new job can be started all the same; what is wrong with the host, that says.
    }
    if (!going || this.#left || this.#started) return false;
    this.job = going;
    void this.follow(going.job, ended);
    return true;
  }

  /** Starts a job and follows it. */
  async start(begin: () => Promise<{ job: number }>, ended?: (job: Job) => void): Promise<void> {
    this.#started = true;
    this.error = undefined;
    try {
      const { job } = await begin();
      await this.follow(job, ended);
    } catch (thrown) {
      this.error = asCallError(thrown);
    }
  }

  stop(): void {
    if (this.job) void call("stop_job", { job: this.job.job });
  }

  /** Looks no more. The job continues. */
  leave(): void {
    this.#left = true;
    this.#number = undefined;
  }
}
