import type { CallCost } from "@postrider/platforms/comments/connector";
import type { ClaimedAction } from "#src/engagement/db/action-claims.ts";
import { settleAppUnits, takeAppUnits } from "#src/engagement/operations/app-units.ts";
import type { ActionContext } from "./action-context.ts";

/** So that waiting actions neither ask all at once nor miss units that are given back early. */
const [MIN_WAIT_MS, MAX_WAIT_MS] = [10_000, 3_600_000];

/** Returns the limit because of which the call must wait; undefined if it may be made now. */
export async function takeUnits(
  { deps: { sql, random } }: ActionContext,
  { platform, workspaceId }: ClaimedAction,
  cost: CallCost | undefined,
) {
  if (cost === undefined) return undefined;
  const limit = await takeAppUnits(sql, { platform, workspaceId, cost });
  if (limit === undefined) return undefined;
  const waitMs = (limit.retryAfterMs ?? 0) + MIN_WAIT_MS * (1 + random());
  return { ...limit, retryAfterMs: Math.min(MAX_WAIT_MS, waitMs) };
}

/** Of a call that was not made. Without an answer of the database, they count as used. */
export async function giveBackUnits(
  { deps: { sql, logger } }: ActionContext,
  { id, platform, workspaceId }: ClaimedAction,
  cost: CallCost | undefined,
): Promise<void> {
  if (cost === undefined) return;
  try {
    await settleAppUnits(sql, { platform, workspaceId, cost }, 0);
  } catch (error) {
    logger.warn(
      { err: error, actionId: id },
      "units of a call that was not made could not be given back",
    );
  }
}
