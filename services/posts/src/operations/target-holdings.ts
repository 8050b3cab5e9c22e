import type { TransactionSql } from "@postrider/shared/postgres";
import { freeGuards, keepGuards } from "#src/db/duplicate-guards.ts";
import { moveQuota, type QuotaMove } from "#src/db/quota-usage.ts";
import {
  guardedUntil,
  quotaKeys,
  quotaShare,
  type HoldingTarget,
} from "#src/domain/target-holding.ts";

/** A locked target before and after a change; undefined = the target is not, or no more. */
export interface HoldingChange {
  readonly before: HoldingTarget;
  readonly after: HoldingTarget | undefined;
}

/**
 * Lets the duplicate guard and quota follow targets that changed, in the transaction of the change and after it: guards
 * first, then quota. Nothing is refused here: what turns out to be published counts even above a limit. Whatever makes
 * a target wanted again asks first, with `takeGuards` and `reserveQuota`, and is no change for this function.
 */
export async function moveHoldings(
  tx: TransactionSql,
  changes: readonly HoldingChange[],
): Promise<void> {
  await moveGuards(tx, changes);
  await moveQuota(tx, quotaMoves(changes));
}

async function moveGuards(tx: TransactionSql, changes: readonly HoldingChange[]): Promise<void> {
  const moved = changes.flatMap(({ before, after }) => {
    const was = guardedUntil(before);
    const until = after === undefined ? undefined : guardedUntil(after);
    if (was?.getTime() === until?.getTime() && (was === null) === (until === null)) return [];
    return [{ target: after ?? before, until }];
  });
  const keys = moved.map(({ target, until }) => ({ ...target, targetId: target.id, until }));
  await freeGuards(
    tx,
    keys.filter(({ until }) => until === undefined),
  );
  await keepGuards(
    tx,
    keys.flatMap(({ until, contentHash, ...key }) =>
      until === undefined || contentHash === null
        ? []
        : [{ ...key, contentHash, expiresAt: until }],
    ),
  );
}

/** One move for each counter. */
function quotaMoves(changes: readonly HoldingChange[]): QuotaMove[] {
  const moves = changes.flatMap(({ before, after }) => [
    ...movesOf(before, -1),
    ...(after === undefined ? [] : movesOf(after, 1)),
  ]);
  const byCounter = Map.groupBy(moves, ({ workspaceId, subject, period }) =>
    [workspaceId, subject, period].join(" "),
  );
  return [...byCounter.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const used = group.reduce((sum, move) => sum + move.used, 0);
    const reserved = group.reduce((sum, move) => sum + move.reserved, 0);
    return [{ ...first, used, reserved }];
  });
}

function movesOf(target: HoldingTarget, sign: 1 | -1): QuotaMove[] {
  const { used, reserved } = quotaShare(target);
  return quotaKeys(target).map((key) => ({
    workspaceId: target.workspaceId,
    ...key,
    used: sign * used,
    reserved: sign * reserved,
  }));
}
