import type { Connectors } from "@postrider/platforms/platforms";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountsClients } from "#src/clients/accounts.ts";
import type { EndedPrivateReply } from "#src/engagement/domain/comment-action.ts";

export interface EngagementConnectors {
  readonly comments: Connectors<"comments">;
  readonly privateReplies: Connectors<"privateReplies">;
  readonly metrics: Connectors<"metrics">;
}

export interface EngagementSettings {
  /**
   * Whether private replies may be sent. If not, runs of automations end before anything is sent.
   */
  readonly isSendingEnabled: boolean;
  /** Interval in milliseconds at which accounts are polled for new comments. */
  readonly commentPollMs: number;
  /** Whether metrics are refreshed without a request. */
  readonly isMetricsRefreshOn: boolean;
  /**
   * Minimum time in milliseconds between two refreshes of the same metrics that users request. A
   * request before that is answered as deferred, with the stored metrics.
   */
  readonly metricsDeferMs: number;
  /** Deadline in milliseconds of a call that makes a reply visible or sends a private reply. */
  readonly visibleCallMs: number;
  /** Duration in milliseconds of the lease with which a process takes work. */
  readonly leaseMs: number;
  /** Waits in milliseconds between attempts after temporary failures. */
  readonly retryMs: readonly number[];
  /**
   * Factor for the waits before the platform is searched for a reply whose call was not answered; 1
   * in production.
   */
  readonly reconcileTimeScale: number;
}

/**
 * Ends the runs of automation rules whose private replies have ended, in the transaction that
 * records these ends.
 */
export type FinishRuns = (tx: TransactionSql, ended: readonly EndedPrivateReply[]) => Promise<void>;

/** Dependencies of the jobs and the RPCs of engagement. */
export interface EngagementDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly guard: DeploymentGuard;
  /** Called when events were appended to the outbox. */
  readonly onEvents: () => void;
  readonly accounts: AccountsClients;
  readonly connectors: EngagementConnectors;
  readonly settings: EngagementSettings;
}

export interface AutomationDeps extends EngagementDeps {
  /** Called when private replies were stored that can be sent now. */
  readonly onActions: () => void;
}

export interface AutomationRpcDeps extends EngagementDeps {
  /** The keys that sign the cursors with which clients request the next page of a list. */
  readonly cursorKeys: CursorKeys;
  /** Called when an account may have become due to be polled for new comments. */
  readonly nudgePolls: () => void;
}
