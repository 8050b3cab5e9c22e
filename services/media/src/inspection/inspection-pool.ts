import { Semaphore } from "@postrider/shared/limits/semaphore";
import { InspectionProcess, type InspectionProcessOptions } from "./inspection-process.ts";
import type { Inspection, InspectionEnd, InspectionRunner } from "./inspection-protocol.ts";

/** Each may use one core and `InspectionLimits.memoryBytes`. */
const MAX_PROCESSES = 2;
const MAX_IDLE_MS = 30_000;

export interface InspectionPoolOptions extends InspectionProcessOptions {
  /** Further files get the result `full`. */
  readonly maxWaiting: number;
}

/**
 * Runs at most two processes. Each inspects one file and ends, so that a file that takes over its
 * process never sees another file. The next one starts while a file is inspected, because loading
 * Node takes longer than a small image.
 */
export class InspectionPool implements InspectionRunner {
  readonly #permits: Semaphore;
  readonly #options: InspectionProcessOptions;
  readonly #stopping = new AbortController();
  readonly #busy = new Set<InspectionProcess>();
  #next: InspectionProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ maxWaiting, ...options }: InspectionPoolOptions) {
    this.#permits = new Semaphore({ total: MAX_PROCESSES, maxWaiting });
    this.#options = options;
  }

  async run(inspection: Inspection): Promise<InspectionEnd> {
    const { signal } = this.#stopping;
    // An owner may use all processes, and one without a file in work comes first.
    const shares = [{ key: inspection.request.owner ?? "", perFree: MAX_PROCESSES }];
    // `acquire` fails only when too many files wait, or the pool is disposed.
    using permit = await this.#permits.acquire({ shares, signal }).catch(() => undefined);
    if (permit === undefined || signal.aborted) return { kind: "full" };
    clearTimeout(this.#idleTimer);
    try {
      await using child = this.#takeProcess();
      this.#busy.add(child);
      using _left = { [Symbol.dispose]: () => this.#busy.delete(child) };
      this.#next ??= new InspectionProcess(this.#options);
      return await child.run(inspection);
    } catch (error) {
      // The process could not be started, for example because the temporary folder is full.
      return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
    } finally {
      this.#stopNextLater();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#idleTimer);
    const processes = [...this.#busy, ...(this.#next === undefined ? [] : [this.#next])];
    await Promise.all(processes.map((it) => it[Symbol.asyncDispose]()));
  }

  #takeProcess(): InspectionProcess {
    const next = this.#next;
    this.#next = undefined;
    if (next?.isUsable === true) return next;
    void next?.[Symbol.asyncDispose]();
    return new InspectionProcess(this.#options);
  }

  #stopNextLater(): void {
    clearTimeout(this.#idleTimer);
    if (this.#stopping.signal.aborted) return;
    this.#idleTimer = setTimeout(() => {
      void this.#next?.[Symbol.asyncDispose]();
      this.#next = undefined;
    }, MAX_IDLE_MS).unref();
  }
}
