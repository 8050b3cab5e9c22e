import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { holderIsGone } from "#src/processes/hold.ts";
import { recordProcesses } from "#src/processes/leftovers.ts";
import type { Layout } from "#src/stack/layout.ts";

/** Disposing ends the process. */
export interface RunningPart extends AsyncDisposable {
  readonly pid: number;
  readonly exited: Promise<string>;
}

/** How a process of the local stack is started. Every start uses the same port. */
export interface PartPlan {
  /** Name of the process: `posts`, or `posts-2` for the second replica of the posts service. */
  readonly name: string;
  /** Name of the hold file that keeps the process down; the replicas of a service share one. */
  readonly holdName: string;
  readonly start: () => Promise<RunningPart>;
}

export interface SupervisionOptions {
  readonly holdDir: string;
  readonly restart: boolean;
  /** The wait before a start grows up to it. Default: so short that a start takes a second. */
  readonly longestDelayMs?: number;
  /** An error is only reported. */
  readonly onStarted: () => void;
  readonly report: (line: string) => void;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const holdPollMs = 100;
const firstDelayMs = 50;
const defaultLongestDelayMs = 900;
const livedLongMs = 5_000;

/**
 * Starts an ended process again on its port within a second, unless a hold file keeps it down. A
 * process that SIGSTOP stopped has not ended.
 */
export class SupervisedPart implements AsyncDisposable {
  readonly plan: PartPlan;
  readonly #options: SupervisionOptions;
  readonly #stopping = new AbortController();
  #running: RunningPart | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(plan: PartPlan, options: SupervisionOptions) {
    this.plan = plan;
    this.#options = options;
  }

  /** 0 before the first start; after an end, it stays until the next process has started. */
  get pid(): number {
    return this.#running?.pid ?? 0;
  }

  get #longestDelayMs(): number {
    return this.#options.longestDelayMs ?? defaultLongestDelayMs;
  }

  async start(): Promise<void> {
    this.#running = await this.plan.start();
    try {
      this.#options.onStarted();
    } catch (error) {
      // The process runs and is supervised all the same, for example while the disk is full.
      this.#options.report(
        `${this.plan.name} (process ${this.pid}) could not be recorded: ${messageOf(error)}`,
      );
    }
  }

  async ended(): Promise<string> {
    return (await this.#running?.exited) ?? "by itself";
  }

  supervise(): void {
    this.#loop = this.#keepUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#running?.[Symbol.asyncDispose]();
  }

  async #keepUp(): Promise<void> {
    let delayMs = firstDelayMs;
    while (this.#options.restart) {
      const since = performance.now();
      const how = await this.#endOrStop();
      if (how === undefined) return;

      delayMs =
        performance.now() - since > livedLongMs
          ? firstDelayMs
          : Math.min(delayMs * 2, this.#longestDelayMs);
      this.#options.report(`${this.plan.name} (process ${this.pid}) ended: ${how}`);
      await this.#startAgain(delayMs);
    }
  }

  async #endOrStop(): Promise<string | undefined> {
    const { signal } = this.#stopping;
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    const onAbort = (): void => resolve(undefined);
    if (signal.aborted) return undefined;

    signal.addEventListener("abort", onAbort);
    const how = await Promise.race([this.ended(), stopped]);
    signal.removeEventListener("abort", onAbort);
    return signal.aborted ? undefined : how;
  }

  async #startAgain(firstDelay: number): Promise<void> {
    let delayMs = firstDelay;
    while (!this.#stopping.signal.aborted) {
      await this.#pause(delayMs);
      await this.#untilReleased();
      if (this.#stopping.signal.aborted) return;

      try {
        await this.start();
        this.#options.report(`${this.plan.name} started again (process ${this.pid})`);
        return;
      } catch (error) {
        this.#options.report(
          `${this.plan.name} did not start and is tried again: ${messageOf(error)}`,
        );
        delayMs = this.#longestDelayMs;
      }
    }
  }

  async #untilReleased(): Promise<void> {
    const file = join(this.#options.holdDir, this.plan.holdName);
    let told = false;
    while (existsSync(file) && !holderIsGone(file) && !this.#stopping.signal.aborted) {
      if (!told) {
        this.#options.report(`${this.plan.name} stays down until ${file} is removed`);
        told = true;
      }
      await this.#pause(holdPollMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}

/** Writes the pids to a file: the next launcher ends them if this one is killed. */
export class PartRegistry {
  readonly #parts: SupervisedPart[] = [];
  readonly #layout: Layout;
  readonly #options: Pick<SupervisionOptions, "restart" | "longestDelayMs" | "report">;
  #onChange: () => void = () => {};

  constructor(
    layout: Layout,
    options: Pick<SupervisionOptions, "restart" | "longestDelayMs" | "report">,
  ) {
    this.#layout = layout;
    this.#options = options;
  }

  add(plan: PartPlan): SupervisedPart {
    const part = new SupervisedPart(plan, {
      holdDir: this.#layout.hold,
      ...this.#options,
      onStarted: () => {
        recordProcesses(
          this.#layout,
          this.#parts.map((each) => each.pid),
        );
        this.#onChange();
      },
    });
    this.#parts.push(part);
    return part;
  }

  /** `onChange` is called for each restart. */
  supervise(onChange: () => void): void {
    this.#onChange = onChange;
    for (const part of this.#parts) part.supervise();
  }

  release(): void {
    this.#onChange = () => {};
  }
}
