import type { DescMethodUnary } from "@bufbuild/protobuf";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { AccountSettingsService } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { AuthorizationService } from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { AutomationService } from "@postrider/contracts/engagement/v1/automation_service_pb";
import { CommentService } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { MetricsService } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { type CallPermits, MAX_CALLS_IN_FLIGHT } from "@postrider/shared/connect/client";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { findContext } from "@postrider/shared/telemetry/request-context";

/** They wait for a platform, a foreign server or a file, so they get at most half of the calls. */
const LONG_CALLS: ReadonlySet<DescMethodUnary> = new Set([
  AccountService.method.connectAccount,
  AccountService.method.disconnectAccount,
  AccountSettingsService.method.getAccountSettings,
  AccountSettingsService.method.updateAccountSettings,
  AuthorizationService.method.finishAuthorization,
  AutomationService.method.createBackfill,
  AutomationService.method.previewBackfill,
  AutomationService.method.updateBackfill,
  CommentService.method.listComments,
  CommentService.method.requestCommentAction,
  MediaService.method.completeUpload,
  MediaService.method.importMedia,
  MetricsService.method.refreshMetrics,
]);
const LONG = { key: "long", max: MAX_CALLS_IN_FLIGHT / 2, isCommon: true };
/** A workspace with long calls gets a third of all, and several leave some for others. */
const WORKSPACE_PER_FREE = 1 / 2;
const MAX_WAITING = 4_000;
/** Larger than the number of requests of the default rate limit. */
const MAX_WAITING_PER_WORKSPACE = 1_000;
const MAX_WAIT_MS = 10_000;

/** A call that serves requests of several workspaces, or of none, counts to no workspace. */
export function createCallPermits(): CallPermits {
  const permits = new Semaphore({
    total: MAX_CALLS_IN_FLIGHT,
    maxWaiting: MAX_WAITING,
    maxWaitingPerShare: MAX_WAITING_PER_WORKSPACE,
    maxWaitMs: MAX_WAIT_MS,
  });
  return async (method) => {
    const owner = findContext()?.workspaceId;
    const shares = [
      ...(owner === undefined ? [] : [{ key: owner, perFree: WORKSPACE_PER_FREE }]),
      ...(LONG_CALLS.has(method) ? [LONG] : []),
    ];
    return await permits.acquire({ shares });
  };
}
