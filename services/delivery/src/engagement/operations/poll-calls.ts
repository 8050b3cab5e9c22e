import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { Sql } from "@postrider/shared/postgres";
import { takeCalls, type PolledAccount } from "#src/engagement/db/automation-accounts.ts";
import type { Bucket } from "#src/engagement/domain/call-budget.ts";
import type { PlatformCalls } from "./platform-calls.ts";

/** Another process has taken over the poll, or the call budget is used up. */
export type NotCalled = { readonly kind: "lost" } | { readonly kind: "exhausted" };

/** Each call renews the lease of the account and uses units of its budget. */
export class PollCalls {
  readonly #sql: Sql;
  readonly #account: PolledAccount;
  readonly #calls: PlatformCalls;
  readonly #limits: { readonly bucket: Bucket; readonly leaseMs: number };
  /** Zero before the first call. */
  unitsLeft = 0;
  unitWaitMs = 0;

  constructor(
    sql: Sql,
    account: PolledAccount,
    calls: PlatformCalls,
    limits: { readonly bucket: Bucket; readonly leaseMs: number },
  ) {
    this.#sql = sql;
    this.#account = account;
    this.#calls = calls;
    this.#limits = limits;
  }

  async make<T extends { readonly kind: string }>(
    units: number,
    call: (access: AccountAccess, signal: AbortSignal) => Promise<T>,
  ) {
    const taken = await takeCalls(this.#sql, this.#account, { ...this.#limits, units });
    if (taken === undefined) return { kind: "lost" } as const;
    this.unitsLeft = taken.unitsLeft;
    this.unitWaitMs = taken.unitWaitMs;
    if (!taken.isTaken) return { kind: "exhausted" } as const;
    return await this.#calls.make(call);
  }
}
