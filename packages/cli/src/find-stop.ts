import type { Workspace } from "@postrider/contracts/accounts/v1/workspace_pb";
import { notFound } from "@postrider/shared/errors";
import { toInstant } from "#src/answers.ts";
import { findRemoval, findWorkspace } from "#src/find-workspace.ts";
import type { Services } from "#src/services.ts";

export interface Stop {
  readonly at: string;
  /** Of the move for which the workspace is frozen, in hexadecimal digits; "" without a move. */
  readonly handoverHash: string;
}

/** Whether requests that were admitted before the stop have ended, by two clocks that agree. */
export function isSettled(at: string, settleSeconds: number): boolean {
  return Date.parse(at) < Date.now() - settleSeconds * 1000;
}

/** Null while it works, and once it is another cell's. */
function stopOf({ move, deletion }: Workspace): Stop | null {
  if (move?.movedAt !== undefined) return null;
  const at = toInstant(move?.frozenAt ?? deletion?.requestedAt);
  const hash = Buffer.from(move?.handoverHash ?? []);
  return at === null ? null : { at, handoverHash: hash.toString("hex") };
}

/**
 * Null while the workspace works, or what it did when it was stopped may not have ended.
 *
 * @param quietSince The stop after which the caller, a move, has waited until nothing was in work.
 *   Its wait is good for this stop only, and needs no clock.
 */
export async function findStop(
  services: Pick<Services, "client">,
  workspaceId: string,
  quietSince?: string,
): Promise<Stop | null> {
  const workspace = await findWorkspace(services, workspaceId);
  if (workspace === undefined) throw notFound();
  const stop = stopOf(workspace);
  if (stop === null) return null;
  if (quietSince !== undefined) return stop.at === quietSince ? stop : null;
  const removal = await findRemoval(services, workspaceId);
  if (removal === undefined || removal.isRemoving) return null;
  return isSettled(stop.at, removal.settleSeconds) ? stop : null;
}
