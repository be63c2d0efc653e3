// A job that is followed until it ends: asked again and again while a dialog looks at it. Jobs go on when nobody looks.
import { asCallError, call, type CallError } from "../host";
import type { Job } from "../host/bindings/Job";

const EVERY_MS = 300;

export class Following {
  job: Job | undefined = $state.raw();
  error: CallError | undefined = $state.raw();
  #number: number | undefined;

  get running(): boolean {
    return this.job?.state === "running";
  }

  /** Follows a job until it has ended or another one is followed. */
  async follow(number: number, ended?: (job: Job) => void): Promise<void> {
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

  /** Starts a job and follows it. */
  async start(begin: () => Promise<{ job: number }>, ended?: (job: Job) => void): Promise<void> {
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

  /** Looks no more. The job goes on. */
  leave(): void {
    this.#number = undefined;
  }
}
