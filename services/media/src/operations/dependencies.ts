import type { MediaLinks } from "@postrider/rest/media/links";
import type { Sql } from "@postrider/shared/postgres";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { PostsClient } from "#src/clients/posts.ts";
import type { SizeLimits } from "#src/domain/accepted-types.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import type { Imports } from "./imports.ts";
import type { FindPreview } from "./previews.ts";
import type { Renditions } from "./renditions.ts";
import type { StorageTurns } from "./storage-limit.ts";
import type { StoreGuard } from "./store-guard.ts";
import type { UploadChecks } from "./upload-checks.ts";

/** Each takes only the part that it uses. */
export interface MediaDependencies {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly guard: StoreGuard;
  readonly deploymentId: string;
  readonly posts: PostsClient;
  readonly checks: UploadChecks;
  readonly imports: Imports;
  readonly renditions: Renditions;
  readonly logger: Logger;
  readonly limits: SizeLimits;
  readonly links: Pick<MediaLinks, "urlOf">;
  readonly storageBytes: number;
  /** Days after the last publication at which media are removed; 0 = never. */
  readonly retentionDays: number;
  readonly storageTurns: StorageTurns;
  readonly cursorKeys: CursorKeys;
  readonly grantMs: number;
  readonly completeMs: number;
  readonly prepareMs: number;
  /**
   * Refuses new uploads and imports while the outbox is full, and in the object store of another
   * deployment.
   *
   * @throws `unavailable`
   */
  readonly assertRoom: () => Promise<void>;
  /** Called after a commit that appended events. */
  readonly nudgeRelay: () => void;
  /** Aborts transfers that would delay the end of the process. */
  readonly stopping: AbortSignal;
}

export type RpcDependencies = Omit<MediaDependencies, "logger" | "stopping">;

export interface RouteDependencies extends Pick<
  MediaDependencies,
  "sql" | "store" | "logger" | "stopping"
> {
  readonly findPreview: FindPreview;
}

export type JobDependencies = Pick<MediaDependencies, "sql" | "store" | "logger" | "guard">;
