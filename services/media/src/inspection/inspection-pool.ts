import { InspectionProcess, type InspectionEnd } from "./inspection-process.ts";
import type { InspectionRequest } from "./inspection-protocol.ts";

/** Maximum number of child processes; each may use one core and `InspectionLimits.memoryBytes`. */
const MAX_PROCESSES = 2;
/** How long an idle child process is kept. */
const MAX_IDLE_MS = 30_000;

/** `full`: too many inspections wait, or the pool is disposed. */
export type PooledEnd = InspectionEnd | { readonly kind: "full" };

/** Runs inspections in at most two child processes, which start on demand and stop after being idle. */
export class InspectionPool implements AsyncDisposable {
  readonly #maxWaiting: number;
  readonly #idle: InspectionProcess[] = [];
  readonly #busy = new Set<InspectionProcess>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor({ maxWaiting }: { readonly maxWaiting: number }) {
    this.#maxWaiting = maxWaiting;
  }

  /** Waits for a free process and inspects one file in it. Never rejects. */
  async run(request: InspectionRequest): Promise<PooledEnd> {
    if (this.#disposed || this.#waiting.length >= this.#maxWaiting) return { kind: "full" };
    if (this.#running >= MAX_PROCESSES) {
      // The inspection that ends hands its place over, so that no other call can take it in between.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return this.#disposed ? { kind: "full" } : await this.#runInProcess(request);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#idleTimer);
    for (const wake of this.#waiting) wake();
    this.#waiting.length = 0;
    await Promise.all([...this.#busy, ...this.#idle].map((it) => it[Symbol.asyncDispose]()));
  }

  async #runInProcess(request: InspectionRequest): Promise<InspectionEnd> {
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

  async #takeProcess(memoryBytes: number): Promise<InspectionProcess> {
    const idle = this.#idle.pop();
    if (idle === undefined) return new InspectionProcess();
    if (await idle.isFit(memoryBytes)) return idle;
    await idle[Symbol.asyncDispose]();
    return new InspectionProcess();
  }

  async #putBack(child: InspectionProcess): Promise<void> {
    if (this.#disposed || !child.isUsable) return await child[Symbol.asyncDispose]();
    this.#idle.push(child);
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#stopIdle(), MAX_IDLE_MS).unref();
  }

  async #stopIdle(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((it) => it[Symbol.asyncDispose]()));
  }
}
