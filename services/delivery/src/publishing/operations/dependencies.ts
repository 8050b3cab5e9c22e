import type { Clocks } from "@postrider/platforms/http/send-once";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { AccountsClients } from "#src/clients/accounts.ts";
import type { MediaSource } from "#src/publishing/clients/media.ts";
import type { PostsClient } from "#src/publishing/clients/posts.ts";
import type { HandleSealing } from "#src/publishing/db/handles.ts";
import type { PublishingPolicy } from "#src/publishing/domain/retry-policy.ts";
import type { Spool } from "#src/publishing/storage/spool.ts";

export interface PublishingSettings extends PublishingPolicy {
  readonly visibleCallMs: number;
  /** Factor by which the waits before searches of a platform are multiplied; 1 in production. */
  readonly reconcileTimeScale: number;
  /** Over all processes, so that a silent platform does not delay the others. */
  readonly maxPerPlatform: number;
}

export interface PublishingDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly connectors: Partial<Record<PlatformId, PublishingConnector>>;
  readonly posts: PostsClient;
  readonly accounts: AccountsClients;
  readonly media: Pick<MediaSource, "describe" | "prepare">;
  readonly spool: Pick<Spool, "fetch">;
  readonly sealing: HandleSealing;
  /** Decides before each claim whether the data is this deployment's own. */
  readonly guard: Pick<DeploymentGuard, "isOwn">;
  readonly settings: PublishingSettings;
  readonly clocks: Clocks;
  readonly random: () => number;
  readonly onEvents: () => void;
}
