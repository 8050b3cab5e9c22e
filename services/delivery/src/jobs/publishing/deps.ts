import type { Logger } from "@postrider/shared/logger";
import type { PlatformId } from "@postrider/shared/platforms/registry";
import type { Sql } from "@postrider/shared/postgres";
import type { AccountsClients } from "#src/clients/accounts.ts";
import type { MediaSource } from "#src/clients/media.ts";
import type { PostsClient } from "#src/clients/posts.ts";
import type { Connector } from "#src/domain/connector.ts";
import type { RetryPolicy } from "#src/domain/retry-policy.ts";
import type { Clocks } from "#src/domain/send-guard.ts";
import type { HandleSeals } from "#src/jobs/publishing/handle-seals.ts";
import type { Spool } from "#src/storage/spool.ts";

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

/** Whether the data belongs here, asked before work is taken. */
export interface Origin {
  mayPublish(): Promise<boolean>;
}

/** What publishing needs from outside. */
export interface PublishingDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly connectors: Partial<Record<PlatformId, Connector>>;
  readonly posts: PostsClient;
  readonly accounts: AccountsClients;
  readonly media: Pick<MediaSource, "describe">;
  readonly spool: Pick<Spool, "fetch">;
  readonly seals: HandleSeals;
  readonly origin: Origin;
  readonly settings: PublishingSettings;
  readonly clocks: Clocks;
  /** In [0, 1). */
  readonly random: () => number;
  /** Called after a commit that appended events. */
  readonly onEvents: () => void;
}
