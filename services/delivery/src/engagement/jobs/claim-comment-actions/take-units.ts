import type { CallCost } from "@postrider/platforms/comments/connector";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { ClaimedAction } from "#src/engagement/db/action-claims.ts";
import { takeAppUnits } from "#src/engagement/operations/app-units.ts";
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
