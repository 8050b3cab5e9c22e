import type { CallCost } from "@postrider/platforms/comments/connector";
import type { Failure } from "@postrider/platforms/publishing/outcome";
import type { Sql } from "@postrider/shared/postgres";
import { lockBudget, storeCharged } from "#src/engagement/db/app-budgets.ts";
import { chargeOf, takeUnits } from "#src/engagement/domain/call-budget.ts";

interface CallOfWorkspace {
  readonly platform: string;
  readonly workspaceId: string;
  readonly cost: CallCost;
}

/**
 * Takes the units of a call before it is made, so that a crash never leaves used units uncounted.
 * Returns the limit that the call met, in which case it must not be made; undefined if none.
 */
export async function takeAppUnits(
  sql: Sql,
  { platform, workspaceId, cost: { budget, units } }: CallOfWorkspace,
): Promise<Extract<Failure, { kind: "retryable" }> | undefined> {
  const use = { platform, workspaceId, budget };
  const waitMs = await sql.begin(async (tx) => {
    const taken = takeUnits(budget, units, await lockBudget(tx, use));
    await storeCharged(tx, use, taken);
    return taken.waitMs;
  });
  if (waitMs === undefined) return undefined;
  return {
    kind: "retryable",
    code: "platform_quota",
    message: "the part of the platform's limit that this workspace may use is used up for now",
    retryAfterMs: Math.ceil(waitMs),
    isLimit: true,
  };
}

/** Charges the further units that a call has used, or gives back those that it has not. */
export async function settleAppUnits(
  sql: Sql,
  { platform, workspaceId, cost: { budget, units } }: CallOfWorkspace,
  usedUnits: number,
): Promise<void> {
  if (usedUnits === units) return;
  const furtherMs = chargeOf(budget, usedUnits - units);
  const use = { platform, workspaceId, budget };
  await sql.begin(async (tx) => {
    const { appMs, ownMs, others } = await lockBudget(tx, use);
    await storeCharged(tx, use, {
      appMs: Math.max(0, appMs + furtherMs),
      ownMs: Math.max(0, ownMs + furtherMs * (1 + others)),
    });
  });
}
