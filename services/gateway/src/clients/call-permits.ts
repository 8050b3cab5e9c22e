import { type CallPermits, MAX_CALLS_IN_FLIGHT } from "@postrider/shared/connect/client";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { findContext } from "@postrider/shared/telemetry/request-context";

/**
 * RPCs that wait for a platform, for a foreign server or for the inspection of a file. Together they use at most half of the calls to
 * a service, so that a slow platform delays no other operation.
 */
const LONG_CALLS = new Set([
  "AccountService.ConnectAccount",
  "AccountSettingsService.GetAccountSettings",
  "AccountSettingsService.UpdateAccountSettings",
  "AuthorizationService.FinishAuthorization",
  "AutomationService.CreateBackfill",
  "AutomationService.PreviewBackfill",
  "CommentService.ListComments",
  "CommentService.RequestCommentAction",
  "MediaService.CompleteUpload",
  "MediaService.ImportMedia",
  "MetricsService.RefreshMetrics",
]);
/**
 * Maximum ratio of the calls of one workspace to the calls that are free, so that a workspace whose calls are long gets a third of all
 * calls, and several such workspaces leave some for others.
 */
const WORKSPACE_PER_FREE = 1 / 2;
const MAX_WAITING = 4_000;
/** Maximum number of calls of one workspace that wait; it is larger than the number of requests of the default rate limit. */
const MAX_WAITING_PER_WORKSPACE = 1_000;
const MAX_WAIT_MS = 10_000;

/**
 * Shares the calls to one service between workspaces. A call that serves requests of several workspaces, or of none, counts to no
 * workspace.
 */
export function createCallPermits(): CallPermits {
  const permits = new Semaphore({
    total: MAX_CALLS_IN_FLIGHT,
    maxWaiting: MAX_WAITING,
    maxWaitingPerShare: MAX_WAITING_PER_WORKSPACE,
    maxWaitMs: MAX_WAIT_MS,
  });
  return ({ name, parent }) => {
    const owner = findContext()?.workspaceId;
    const isLong = LONG_CALLS.has(`${parent.name}.${name}`);
    const shares = [
      ...(owner === undefined ? [] : [{ key: owner, perFree: WORKSPACE_PER_FREE }]),
      ...(isLong ? [{ key: "long", max: MAX_CALLS_IN_FLIGHT / 2 }] : []),
    ];
    return permits.tryAcquire({ shares }) ?? permits.acquire({ shares });
  };
}
