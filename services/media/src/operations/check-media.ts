import { rm } from "node:fs/promises";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { CheckMedia, CheckResult } from "#src/domain/checked-media.ts";
import { CheckProcess, type CheckEnd } from "#src/inspection/inspection-pool.ts";
import {
  deliveryPathOf,
  type CheckLimits,
  type CheckRequest,
} from "#src/inspection/inspection-protocol.ts";

/** Two files at a time use two cores and twice the memory limit. */
const MAX_AT_ONCE = 2;
const MAX_WAITING = 100;
const MAX_IDLE_MS = 30_000;
const DEFAULT_MEMORY_BYTES = 256_000_000;
const DEFAULT_TIME_MS = 4_000;

export interface MediaCheckerOptions {
  readonly limits: Pick<CheckLimits, "maxImageBytes" | "maxVideoBytes"> & Partial<CheckLimits>;
  readonly logger: Logger;
  /** Fewer in tests. */
  readonly maxWaiting?: number;
}

/**
 * Checks files in processes of its own, which are started when they are needed and end when they are not. A file that
 * takes more than a check may is rejected and its process replaced. More than `maxWaiting` waiting, or disposed of:
 * `unavailable`.
 */
export function createMediaChecker(
  options: MediaCheckerOptions,
): { readonly check: CheckMedia } & AsyncDisposable {
  const checker = new MediaChecker(options);
  return {
    check: (path, declared) => checker.check({ path, declared, limits: checker.limits }),
    [Symbol.asyncDispose]: () => checker[Symbol.asyncDispose](),
  };
}

class MediaChecker implements AsyncDisposable {
  readonly limits: CheckLimits;
  readonly #logger: Logger;
  readonly #maxWaiting: number;
  readonly #resting: CheckProcess[] = [];
  readonly #busy = new Set<CheckProcess>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor({ limits, logger, maxWaiting = MAX_WAITING }: MediaCheckerOptions) {
    this.limits = { memoryBytes: DEFAULT_MEMORY_BYTES, timeMs: DEFAULT_TIME_MS, ...limits };
    this.#logger = logger;
    this.#maxWaiting = maxWaiting;
  }

  async check(request: CheckRequest): Promise<CheckResult> {
    if (this.#disposed || this.#waiting.length >= this.#maxWaiting) return { kind: "unavailable" };
    if (this.#running >= MAX_AT_ONCE) {
      // The place is handed over by whoever leaves it, so nobody can slip in between.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return this.#disposed ? { kind: "unavailable" } : await this.#run(request);
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
    await Promise.all([...this.#busy, ...this.#resting].map((it) => it[Symbol.asyncDispose]()));
  }

  async #run(request: CheckRequest): Promise<CheckResult> {
    clearTimeout(this.#idleTimer);
    const checking = await this.#takeProcess();
    this.#busy.add(checking);
    try {
      const end = await checking.run(request);
      return await this.#conclude(request, end);
    } finally {
      this.#busy.delete(checking);
      await this.#putBack(checking);
    }
  }

  async #takeProcess(): Promise<CheckProcess> {
    const resting = this.#resting.pop();
    if (resting === undefined) return new CheckProcess();
    if (await resting.isFit(this.limits.memoryBytes)) return resting;
    await resting[Symbol.asyncDispose]();
    return new CheckProcess();
  }

  async #putBack(checking: CheckProcess): Promise<void> {
    if (this.#disposed || !checking.isUsable) return await checking[Symbol.asyncDispose]();
    this.#resting.push(checking);
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#stopResting(), MAX_IDLE_MS).unref();
  }

  async #stopResting(): Promise<void> {
    await Promise.all(this.#resting.splice(0).map((it) => it[Symbol.asyncDispose]()));
  }

  async #conclude({ path, limits }: CheckRequest, end: CheckEnd): Promise<CheckResult> {
    if (end.kind === "done") {
      const { result } = end;
      const isKept = result.kind === "checked" && result.media.delivery.kind === "rewritten";
      if (!isKept) await rm(deliveryPathOf(path), { force: true });
      return result;
    }
    await rm(deliveryPathOf(path), { force: true });
    if (end.kind !== "exhausted") {
      const reason = end.kind === "failed" ? end.message : "the process ended";
      this.#logger.warn({ reason, step: "check" }, "a file could not be checked");
      return { kind: "unavailable" };
    }
    this.#logger.warn({ reason: end.what, step: "check" }, "a file exhausted its check");
    const message = `The file cannot be read within the limits of ${end.what === "time" ? "time" : "memory"}.`;
    const limit = end.what === "memory" ? { limit: limits.memoryBytes } : {};
    return { kind: "rejected", violation: { code: "media_unreadable", message, ...limit } };
  }
}
