import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { PlatformId } from "@postrider/platforms/registry";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountsClients } from "#src/publishing/clients/accounts.ts";
import type { MediaSource } from "#src/publishing/clients/media.ts";
import type { PostsClient } from "#src/publishing/clients/posts.ts";
import type { RetryPolicy } from "#src/publishing/domain/retry-policy.ts";
import type { Clocks } from "#src/publishing/domain/send-guard.ts";
import type { Spool } from "#src/publishing/storage/spool.ts";
import type { HandleSeals } from "./handle-seals.ts";

export interface PublishingSettings extends RetryPolicy {
  /** Deadline of a visible call. */
  readonly visibleCallMs: number;
  /** Multiplies the waits before looks at a platform; 1 in production. */
  readonly reconcileTimeScale: number;
  /** Tasks of one platform in work over all processes, so that one that hangs keeps nobody else waiting. */
  readonly maxPerPlatform: number;
  /** How many of those may belong to one workspace. */
  readonly maxPerWorkspace: number;
}

/** What publishing needs from outside. */
export interface PublishingDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly connectors: Partial<Record<PlatformId, PublishingConnector>>;
  readonly posts: PostsClient;
  readonly accounts: AccountsClients;
  readonly media: Pick<MediaSource, "describe">;
  readonly spool: Pick<Spool, "fetch">;
  readonly seals: HandleSeals;
  /** Asked before work is claimed. */
  readonly guard: Pick<DeploymentGuard, "isOwn">;
  readonly settings: PublishingSettings;
  readonly clocks: Clocks;
  /** In [0, 1). */
  readonly random: () => number;
  /** Called after a commit that appended events. */
  readonly onEvents: () => void;
}
