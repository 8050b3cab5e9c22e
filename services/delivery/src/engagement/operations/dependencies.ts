import type { Connectors } from "@postrider/platforms/platforms";
import type { Caveat } from "@postrider/platforms/publishing/outcome";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountsClients } from "#src/clients/accounts.ts";
import type { AskedTarget } from "#src/engagement/db/target-metrics.ts";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";

export interface EngagementConnectors {
  readonly comments: Connectors<"comments">;
  readonly privateReplies: Connectors<"privateReplies">;
  readonly metrics: Connectors<"metrics">;
}

export interface EngagementSettings {
  /** If not, runs of automations end before anything is sent. */
  readonly isSendingEnabled: boolean;
  /** Interval of the polls of an account. */
  readonly commentPollMs: number;
  readonly isMetricsRefreshOn: boolean;
  /** After that, ended actions on comments and automation runs are removed. */
  readonly historyDays: number;
  /** A request before this time is answered as deferred, with the stored metrics. */
  readonly metricsDeferMs: number;
  /** Deadline of a call that makes a reply visible or sends a private reply. */
  readonly visibleCallMs: number;
  readonly leaseMs: number;
  /** Between attempts after temporary failures. */
  readonly retryMs: readonly number[];
  /** Factor for the waits before a search for an unanswered reply; 1 in production. */
  readonly reconcileTimeScale: number;
}

/** Runs in the transaction that records the ends of the private replies. */
export type FinishRuns = (tx: TransactionSql, ended: readonly EndedPrivateReply[]) => Promise<void>;

/** Adds to published targets what their metrics say became of them. Never throws. */
export type ReportCaveats = (
  reports: readonly (Pick<AskedTarget, "targetId" | "workspaceId" | "externalId"> & {
    readonly caveat: Caveat;
  })[],
) => Promise<void>;

export interface EngagementDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly guard: DeploymentGuard;
  readonly onEvents: () => void;
  readonly reportCaveats: ReportCaveats;
  readonly accounts: AccountsClients;
  readonly connectors: EngagementConnectors;
  readonly settings: EngagementSettings;
}

export interface AutomationDeps extends EngagementDeps {
  readonly onActions: () => void;
}

export interface AutomationRpcDeps extends EngagementDeps {
  /** Sign the cursors with which clients request the next page. */
  readonly cursorKeys: CursorKeys;
  /** Called when an account may have become due to be polled for new comments. */
  readonly nudgePolls: () => void;
}

export interface CommentRpcDeps extends Pick<
  EngagementDeps,
  "sql" | "logger" | "accounts" | "onEvents"
> {
  readonly connectors: Pick<EngagementDeps["connectors"], "comments">;
  readonly settings: Pick<EngagementSettings, "historyDays">;
  /** Sign the cursors with which clients request the next page. */
  readonly cursorKeys: CursorKeys;
  readonly readTimeoutMs: number;
  readonly nudgeActions: () => void;
}
