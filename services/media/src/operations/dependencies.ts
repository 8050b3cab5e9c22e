import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { PostsClient } from "#src/clients/posts.ts";
import type { SizeLimits } from "#src/domain/accepted-types.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import type { Imports } from "./imports.ts";
import type { Renditions } from "./renditions.ts";
import type { StorageTurns } from "./storage-limit.ts";
import type { StoreGuard } from "./store-guard.ts";
import type { UploadChecks } from "./upload-checks.ts";

/** Dependencies of the RPCs, routes and jobs of the media service; each takes only the part that it uses. */
export interface MediaDependencies {
  readonly sql: Sql;
  readonly store: ObjectStore;
  /** Says whether this process may delete files from the object store. */
  readonly guard: StoreGuard;
  readonly deploymentId: string;
  readonly posts: PostsClient;
  readonly checks: UploadChecks;
  readonly imports: Imports;
  readonly renditions: Renditions;
  readonly logger: Logger;
  readonly limits: SizeLimits;
  /** Maximum number of bytes that a workspace without a limit of its own may store. */
  readonly storageBytes: number;
  /** Limits how many transactions read the used storage of workspaces at the same time. */
  readonly storageTurns: StorageTurns;
  /** How long after it was issued an upload grant allows an upload to begin. */
  readonly grantMs: number;
  /** How long CompleteUpload waits for the check of an upload. */
  readonly completeMs: number;
  /** How long PrepareMedia waits for renditions. */
  readonly prepareMs: number;
  /** Refuses new uploads and imports while the outbox of events is full. @throws `unavailable` */
  readonly assertRoom: () => Promise<void>;
  /** Makes the outbox relay publish at once; called after a commit that appended events. */
  readonly nudgeRelay: () => void;
  /** Aborts uploads and downloads that would delay the end of the process. */
  readonly stopping: AbortSignal;
}

export type RpcDependencies = Omit<MediaDependencies, "logger" | "stopping">;

export type RouteDependencies = Pick<MediaDependencies, "sql" | "store" | "logger" | "stopping">;

export type JobDependencies = Pick<MediaDependencies, "sql" | "store" | "logger" | "guard">;
