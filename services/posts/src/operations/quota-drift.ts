import type { ISql } from "@postrider/shared/postgres";
import { listAllQuotaUsage } from "#src/db/quota-usage.ts";
import { listCountedTargets } from "#src/db/targets.ts";
import { quotaKeys, quotaShare } from "#src/domain/target-holding.ts";

/** A counter that does not hold what its targets make it hold. */
export interface QuotaDrift {
  readonly subject: string;
  readonly period: string;
  readonly held: { readonly used: number; readonly reserved: number };
  readonly expected: { readonly used: number; readonly reserved: number };
}

/**
 * Compares a workspace's counters with its targets: reserved is the open ones, used is what is or may be out. None
 * differs unless a change of a target went past `moveHoldings`. Call it with a transaction of one snapshot, or at rest.
 */
export async function findQuotaDrift(sql: ISql, workspaceId: string): Promise<QuotaDrift[]> {
  const counters = new Map<string, QuotaDrift>();
  const add = (key: { subject: string; period: string }, change: Partial<QuotaDrift>) => {
    const name = `${key.period}/${key.subject}`;
    const none = { held: { used: 0, reserved: 0 }, expected: { used: 0, reserved: 0 } };
    counters.set(name, { ...none, ...counters.get(name), ...key, ...change });
    return counters.get(name) ?? { ...none, ...key };
  };
  for (const { subject, period, ...held } of await listAllQuotaUsage(sql, workspaceId))
    add({ subject, period }, { held });
  for (const { count, ...target } of await listCountedTargets(sql, workspaceId)) {
    const share = quotaShare(target);
    for (const key of quotaKeys(target)) {
      const { expected } = add(key, {});
      const used = expected.used + count * share.used;
      const reserved = expected.reserved + count * share.reserved;
      add(key, { expected: { used, reserved } });
    }
  }
  return [...counters.values()].filter(
    ({ held, expected }) => held.used !== expected.used || held.reserved !== expected.reserved,
  );
}
