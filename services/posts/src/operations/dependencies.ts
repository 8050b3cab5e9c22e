import type { Client } from "@connectrpc/connect";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import type { Sql } from "@postrider/shared/postgres";
import type { DatabaseClock } from "@postrider/shared/postgres/clock";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import type {
  AccountDirectory,
  PlatformDirectory,
  WorkspaceDirectory,
} from "#src/clients/accounts.ts";
import type { MediaClient } from "#src/clients/media.ts";
import type { PostInserts } from "#src/operations/post-inserts.ts";

/** Each RPC, job and operation takes only the part that it needs. */
export interface PostsDeps {
  readonly sql: Sql;
  readonly inserts: PostInserts;
  readonly clock: DatabaseClock;
  readonly accounts: AccountDirectory;
  readonly platforms: PlatformDirectory;
  readonly workspaces: WorkspaceDirectory;
  readonly accountService: Client<typeof AccountService>;
  readonly media: MediaClient;
  readonly tasks: Client<typeof TaskService>;
  /** Throws when the outbox is full: too many of its events have not been published yet. */
  readonly assertRoom: () => Promise<void>;
  /** Call it after a commit that appended events to the outbox. */
  readonly nudgeRelay: () => void;
  /** Call it after a commit that scheduled a post. */
  readonly nudgeScheduler: (scheduledAt: Date) => void;
  /** Milliseconds after the due time of a post during which it may still be published. */
  readonly missedAfterMs: number;
  /** Days after its last change at which an ended post is removed. */
  readonly retentionDays: number;
  readonly cursorKeys: CursorKeys;
}
