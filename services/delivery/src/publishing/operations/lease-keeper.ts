import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { renewLeases } from "#src/publishing/db/leases.ts";
import { nameTask, type HeldKey } from "#src/publishing/domain/task.ts";

/**
 * The lease of a publish task in work. `lost` is aborted when another worker has claimed the task. Disposing of the lease
 * stops its renewals.
 */
export interface Lease extends Disposable {
  readonly lost: AbortSignal;
}

/** Renews the leases of all publish tasks in work in this process with one SQL statement, four times per lease duration. */
export class LeaseKeeper implements AsyncDisposable {
  readonly #held = new Map<string, { readonly key: HeldKey; readonly lost: AbortController }>();
  readonly #loop: Loop;

  constructor(options: { readonly sql: Sql; readonly leaseMs: number; readonly logger: Logger }) {
    const everyMs = options.leaseMs / 4;
    let isFirst = true;
    this.#loop = startLoop({
      idleMs: everyMs,
      work: async () => {
        if (!isFirst) await this.#renew(options.sql, options.leaseMs);
        isFirst = false;
        return everyMs;
      },
      onError: (error) =>
        options.logger.warn(
          { err: error },
          "the leases of tasks could not be renewed; other workers may claim these tasks when their leases end",
        ),
    });
  }

  hold(key: HeldKey): Lease {
    const lost = new AbortController();
    const name = nameTask(key);
    const entry = { key, lost };
    this.#held.set(name, entry);
    return {
      lost: lost.signal,
      [Symbol.dispose]: () => {
        if (this.#held.get(name) === entry) this.#held.delete(name);
      },
    };
  }

  async #renew(sql: Sql, leaseMs: number): Promise<void> {
    const held = [...this.#held];
    if (held.length === 0) return;
    const keys = held.map(([, { key }]) => key);
    const renewed = new Set((await renewLeases(sql, keys, leaseMs)).map(nameTask));
    for (const [name, { lost }] of held) if (!renewed.has(name)) lost.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }
}
