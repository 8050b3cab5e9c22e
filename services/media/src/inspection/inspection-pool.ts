import { Semaphore } from "@postrider/shared/limits/semaphore";
import { InspectionProcess, type InspectionEnd } from "./inspection-process.ts";
import type { InspectionRequest } from "./inspection-protocol.ts";

/** Maximum number of inspection processes; each may use one core and `InspectionLimits.memoryBytes`. */
const MAX_PROCESSES = 2;
/** How long an idle inspection process is kept. */
const MAX_IDLE_MS = 30_000;

/** How an inspection ended. `full` means that it did not start: too many files wait, or the pool is disposed. */
export type PooledEnd = InspectionEnd | { readonly kind: "full" };

/** Runs inspections in at most two child processes, which start on demand and stop after being idle. */
export class InspectionPool implements AsyncDisposable {
  readonly #permits: Semaphore;
  readonly #stopping = new AbortController();
  readonly #idle: InspectionProcess[] = [];
  readonly #busy = new Set<InspectionProcess>();
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ maxWaiting }: { readonly maxWaiting: number }) {
    this.#permits = new Semaphore({ total: MAX_PROCESSES, maxWaiting });
  }

  /** Waits for a free inspection process and inspects one file in it. The promise never rejects. */
  async run(request: InspectionRequest): Promise<PooledEnd> {
    const { signal } = this.#stopping;
    // `acquire` rejects only when too many files wait for an inspection process, or the pool is disposed.
    using permit = await this.#permits.acquire({ signal }).catch(() => undefined);
    if (permit === undefined || signal.aborted) return { kind: "full" };
    clearTimeout(this.#idleTimer);
    const child = await this.#takeProcess(request.limits.memoryBytes);
    this.#busy.add(child);
    try {
      return await child.run(request);
    } finally {
      this.#busy.delete(child);
      await this.#putBack(child);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#idleTimer);
    await Promise.all([...this.#busy, ...this.#idle].map((it) => it[Symbol.asyncDispose]()));
  }

  async #takeProcess(memoryBytes: number): Promise<InspectionProcess> {
    const idle = this.#idle.pop();
    if (idle === undefined) return new InspectionProcess();
    if (await idle.isFit(memoryBytes)) return idle;
    await idle[Symbol.asyncDispose]();
    return new InspectionProcess();
  }

  async #putBack(child: InspectionProcess): Promise<void> {
    if (this.#stopping.signal.aborted || !child.isUsable) return await child[Symbol.asyncDispose]();
    this.#idle.push(child);
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#stopIdle(), MAX_IDLE_MS).unref();
  }

  async #stopIdle(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((it) => it[Symbol.asyncDispose]()));
  }
}
