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

/**
 * Whether nothing of the workspace is in work since its stop. A caller that has waited for that
 * names the stop after which it did; without one, the clocks of this computer and of the database
 * are compared.
 */
export function isQuiet(
  at: string,
  { quietSince, settleSeconds }: { readonly quietSince?: string; readonly settleSeconds: number },
): boolean {
  if (quietSince !== undefined) return at === quietSince;
  return Date.parse(at) < Date.now() - settleSeconds * 1000;
}

/** Null while it works, and once it is another cell's. */
function stopOf({ move, deletion }: Workspace): Stop | null {
  if (move?.movedAt !== undefined) return null;
  const at = toInstant(move?.frozenAt ?? deletion?.requestedAt);
  const hash = Buffer.from(move?.handoverHash ?? []);
  return at === null ? null : { at, handoverHash: hash.toString("hex") };
}

/** Null while the workspace works, or what it did when it was stopped may not have ended. */
export async function findStop(
  services: Services,
  workspaceId: string,
  quietSince?: string,
): Promise<Stop | null> {
  const workspace = await findWorkspace(services, workspaceId);
  if (workspace === undefined) throw notFound();
  const removal = await findRemoval(services, workspaceId);
  const stop = stopOf(workspace);
  if (removal === undefined || removal.isRemoving || stop === null) return null;
  const { settleSeconds } = removal;
  const known = quietSince === undefined ? {} : { quietSince };
  return isQuiet(stop.at, { settleSeconds, ...known }) ? stop : null;
}
