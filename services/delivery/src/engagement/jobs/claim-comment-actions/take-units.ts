import type { CallCost } from "@postrider/platforms/comments/connector";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { ClaimedAction } from "#src/engagement/db/action-claims.ts";
import { settleAppUnits, takeAppUnits } from "#src/engagement/operations/app-units.ts";
import type { ActionContext } from "./action-context.ts";

/** So that waiting actions neither ask all at once nor miss units that are given back early. */
const [MIN_WAIT_MS, MAX_WAIT_MS] = [10_000, 3_600_000];

/** A call of an action that uses units of the app's budget. */
export interface CountedCall {
  readonly cost: CallCost;
  readonly isForeignHost: (access: AccountAccess) => boolean;
}

/** Returns the limit because of which the call must wait; undefined if it may be made now. */
export async function takeUnits(
  { deps: { sql, random } }: ActionContext,
  { platform, workspaceId }: ClaimedAction,
  counted: CountedCall | undefined,
  access: AccountAccess,
) {
  if (counted === undefined || counted.isForeignHost(access)) return undefined;
  const limit = await takeAppUnits(sql, { platform, workspaceId, cost: counted.cost });
  if (limit === undefined) return undefined;
  const waitMs = (limit.retryAfterMs ?? 0) + MIN_WAIT_MS * (1 + random());
  return { ...limit, retryAfterMs: Math.min(MAX_WAIT_MS, waitMs) };
}

/** Of a call that was not made. Without an answer of the database, they count as used. */
export async function giveBackUnits(
  { deps: { sql, logger } }: ActionContext,
  { id, platform, workspaceId }: ClaimedAction,
  counted: CountedCall | undefined,
  access: AccountAccess,
): Promise<void> {
  if (counted === undefined || counted.isForeignHost(access)) return;
  try {
    await settleAppUnits(sql, { platform, workspaceId, cost: counted.cost }, 0);
  } catch (error) {
    logger.warn(
      { err: error, actionId: id },
      "units of a call that was not made could not be given back",
    );
  }
}
