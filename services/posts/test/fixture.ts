import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import {
  create,
  fromJsonString,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import type { AccountSchema } from "@postrider/contracts/accounts/v1/account_pb";
import {
  AccountService,
  type BatchGetPostingAccountsRequest,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { PostPublishRequestedSchema as BacklogRequestSchema } from "@postrider/contracts/backlog/v1/backlog_events_pb";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
  type DeletionUpdated,
  type TargetUpdated,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import type { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import {
  MediaService,
  type MediaUse,
  type UseMediaRequest,
} from "@postrider/contracts/media/v1/media_service_pb";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import { OverviewService } from "@postrider/contracts/posts/v1/overview_service_pb";
import { PostLimitService } from "@postrider/contracts/posts/v1/post_limit_service_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import {
  PostCancelledSchema,
  PostDeletedSchema,
  PostDeletionRequestedSchema,
  PostFailedSchema,
  PostPartialSchema,
  PostPublishedSchema,
  PostPublishRequestedSchema,
  PostScheduledSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { QueueSlotService } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import { RetentionService } from "@postrider/contracts/posts/v1/retention_service_pb";
import { TargetService, type TargetRef } from "@postrider/contracts/posts/v1/target_service_pb";
import { createBatchHandler } from "@postrider/shared/bus/consumer";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import { conflict, unavailable } from "@postrider/shared/errors";
import { newId, NIL_ID } from "@postrider/shared/ids";
import { createOutboxCapacityCheck } from "@postrider/shared/outbox";
import type { Sql } from "@postrider/shared/postgres";
import { createDatabaseClock, type DatabaseClock } from "@postrider/shared/postgres/clock";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterAll } from "vitest";
import {
  createAccountDirectory,
  createPlatformDirectory,
  createWorkspaceDirectory,
} from "#src/clients/accounts.ts";
import type { MediaClient } from "#src/clients/media.ts";
import { MIGRATIONS } from "#src/config.ts";
import { eventHandlers } from "#src/consumers/index.ts";
import { removePage } from "#src/jobs/remove-old-posts.ts";
import { startDueBatch } from "#src/jobs/start-due-posts.ts";
import { sweepTargets } from "#src/jobs/sweep.ts";
import { applyDeletionUpdates, applyTargetUpdates } from "#src/operations/apply-target-updates.ts";
import { createPostInserts } from "#src/operations/post-inserts.ts";
import { createRoutes, type RouteDeps } from "#src/rpc/routes.ts";
import { showAnswers, type ShownPost } from "./shown-posts.ts";

export const SCHEMA_FILE = fileURLToPath(new URL("../schema.sql", import.meta.url));

const EVENTS = [
  BacklogRequestSchema,
  PostPublishRequestedSchema,
  PostPublishedSchema,
  PostPartialSchema,
  PostFailedSchema,
  PostScheduledSchema,
  PostCancelledSchema,
  PostDeletedSchema,
  PostDeletionRequestedSchema,
];

/** Describes an account as `BatchGetPostingAccounts` does. */
function describeAccount({
  traits = {},
  settings = "",
  available = "",
  ...account
}: MessageInitShape<typeof AccountSchema>): object {
  const parse = (text: string): unknown => (text === "" ? null : JSON.parse(text));
  return { ...account, traits, settings: parse(settings), available: parse(available) };
}

/**
 * The services that the posts service calls, in memory. They implement the RPC contract and return
 * the data that a test sets.
 */
class FakePeers {
  readonly accounts = new Map<string, MessageInitShape<typeof AccountSchema>>();
  readonly media: MessageInitShape<typeof MediaSchema>[] = [];
  readonly available = new Set(["x", "telegram", "bluesky", "tiktok"]);
  /** What the fake delivery service reports about targets, by target id. */
  readonly tasks = new Map<string, TargetUpdated>();
  /** What the fake delivery service reports about deletions on platforms, by target id. */
  readonly deletions = new Map<string, DeletionUpdated>();
  /**
   * The ids of the targets for which the fake delivery service is calling the platform at the
   * moment.
   */
  readonly calling = new Set<string>();
  /** The targets that the fake delivery service has promised not to publish, as `id generation`. */
  readonly closed = new Set<string>();
  /** The ids of the targets about which the fake delivery service fails to answer. */
  readonly unanswerable = new Set<string>();
  /** Called while the posts service waits for the fake delivery service to close targets. */
  onCancel: () => Promise<unknown> = async () => undefined;
  readonly accountCalls: BatchGetPostingAccountsRequest[] = [];
  readonly askedTargets: TargetRef[] = [];
  /** Quota limits that a test has changed, by workspace id. */
  readonly limits = new Map<string, { monthlyQuota?: number; dailyQuota?: number }>();
  /** What the fake accounts service says; a workspace's limits are asked once in 3 s. */
  hasSeveralWorkspaces = false;
  /** The claims on media that the fake media service has received. */
  readonly used: UseMediaRequest[] = [];
  /** The uses of media that the posts service has reported as ended. */
  readonly released: MediaUse[] = [];
  /** Called while the posts service waits for the fake media service to claim media. */
  onUse: () => Promise<unknown> = async () => undefined;
  accountsAreUp = true;
  mediaIsUp = true;
  deliveryIsUp = true;

  /**
   * Adds a media item to the fake media service and returns its id. The item is ready unless a test
   * says otherwise.
   */
  addMedia(workspaceId: string, change: MessageInitShape<typeof MediaSchema> = {}): string {
    const id = newId();
    this.media.push({
      id,
      workspaceId,
      status: "ready",
      kind: "image",
      contentType: "image/png",
      bytes: 1000n,
      width: 640,
      height: 480,
      ...change,
    });
    return id;
  }

  #mediaOf({ workspaceId, ids }: { readonly workspaceId: string; readonly ids: string[] }) {
    return this.media.filter(
      (item) => item.workspaceId === workspaceId && ids.includes(item.id ?? ""),
    );
  }

  connectAccount(workspaceId: string, platform: string, status = "active"): string {
    const id = newId();
    this.accounts.set(id, { id, workspaceId, platform, username: `${platform}-user`, status });
    return id;
  }

  /** Changes the settings of an account, as the accounts service returns them. */
  changeSettings(id: string, settings: object): void {
    const account = this.accounts.get(id);
    this.accounts.set(id, { ...account, settings: JSON.stringify(settings) });
  }

  readonly routes = (router: ConnectRouter): void => {
    router.service(AccountService, {
      listAccounts: ({ workspaceId }) => ({
        accounts: [...this.accounts.values()]
          .filter((account) => account.workspaceId === workspaceId)
          .toReversed(),
      }),
      batchGetPostingAccounts: (request) => {
        if (!this.accountsAreUp) throw unavailable();
        this.accountCalls.push(request);
        const found = request.workspaces.flatMap(({ workspaceId, accountIds }) =>
          accountIds
            .flatMap((id) => this.accounts.get(id) ?? [])
            .filter((each) => each.workspaceId === workspaceId && each.status !== "disconnected"),
        );
        return { accounts: JSON.stringify(found.map(describeAccount)) };
      },
    });
    router.service(PlatformService, {
      listPlatforms: () => ({
        platforms: [...this.available].map((platform) => ({ platform, available: true })),
      }),
    });
    router.service(WorkspaceService, {
      batchGetWorkspaces: ({ ids }) => ({
        hasSeveralWorkspaces: this.hasSeveralWorkspaces,
        highestDailyQuota: Math.max(
          ...[...this.limits.values()].map(({ dailyQuota = 0 }) => dailyQuota),
          0,
        ),
        workspaces: ids.map((id) => ({ id, limits: this.limits.get(id) ?? {} })),
      }),
    });
    router.service(MediaService, {
      batchGetMedia: (request) => {
        if (!this.mediaIsUp) throw unavailable();
        return { media: this.#mediaOf(request) };
      },
      useMedia: async (request) => {
        if (!this.mediaIsUp) throw unavailable();
        this.used.push(request);
        await this.onUse();
        return { media: this.#mediaOf(request) };
      },
      releaseMedia: ({ uses }) => {
        if (!this.mediaIsUp) throw unavailable();
        this.released.push(...uses);
        return {};
      },
    });
    router.service(TaskService, {
      batchGetTargetStates: ({ refs, deletions }) => {
        if (!this.deliveryIsUp) throw unavailable();
        if (refs.some(({ targetId }) => this.unanswerable.has(targetId)))
          throw new Error("a state cannot be read");
        this.askedTargets.push(...refs);
        const updates = refs.flatMap((ref) => this.tasks.get(ref.targetId) ?? []);
        const unknown = refs.filter((ref) => !this.tasks.has(ref.targetId));
        return {
          updates,
          unknown,
          cancelled: unknown.filter((ref) => this.closed.has(`${ref.targetId} ${ref.generation}`)),
          deletions: deletions.flatMap((ref) => this.deletions.get(ref.targetId) ?? []),
          unknownDeletions: deletions.filter((ref) => !this.deletions.has(ref.targetId)),
        };
      },
      cancelTargets: async ({ targets }) => {
        if (!this.deliveryIsUp) throw unavailable();
        const refs = targets.flatMap(({ ref }) => ref ?? []);
        if (refs.some(({ targetId }) => this.calling.has(targetId)))
          throw conflict("post_publishing");
        const ended = refs.flatMap(({ targetId }) => this.tasks.get(targetId) ?? []);
        for (const ref of refs)
          if (!this.tasks.has(ref.targetId)) this.closed.add(`${ref.targetId} ${ref.generation}`);
        await this.onCancel();
        return { ended };
      },
    });
  };
}

interface PostChange {
  readonly workspaceId?: string;
  readonly content?: string;
  readonly accountIds?: string[];
  readonly mediaIds?: string[];
  readonly options?: Record<string, { content?: string; title?: string }>;
  readonly createdVia?: string;
  readonly scheduledAt?: Timestamp;
  readonly isDraft?: boolean;
  readonly queueSlot?: boolean;
  readonly force?: boolean;
  readonly idempotency?: { key: string; fingerprint: string };
}

/** Starts a posts service with its own database. All other services are fakes in memory. */
export async function startPosts(
  change: { readonly clock?: DatabaseClock; readonly media?: MediaClient } = {},
) {
  const database = await createTestDatabase({
    service: "posts",
    migrationsFolder: MIGRATIONS,
    poolSize: 10,
  });
  const { sql } = database;
  const peers = new FakePeers();
  const peer = createTestPeer(peers.routes);
  const logger = createLogger({ service: "test", level: "silent" });
  const nudges = { count: 0 };
  const nudgeRelay = (): void => void (nudges.count += 1);
  const deps: Omit<RouteDeps, "inserts"> = {
    sql,
    nudgeRelay,
    deploymentId: "test",
    clock: change.clock ?? createDatabaseClock(sql),
    accounts: createAccountDirectory(peer.client(AccountService)),
    platforms: createPlatformDirectory(peer.client(PlatformService)),
    accountService: peer.client(AccountService),
    workspaces: createWorkspaceDirectory(peer.client(WorkspaceService)),
    nudgeScheduler: () => {},
    media: change.media ?? peer.client(MediaService),
    tasks: peer.client(TaskService),
    assertRoom: createOutboxCapacityCheck(sql),
    missedAfterMs: 86_400_000,
    retentionDays: 400,
    cursorKeys: deriveCursorKeys("posts", ["test"]),
    parkedEvents: createParkedEventService({ sql, handlers: eventHandlers["delivery.events.v1"] }),
  };
  const startReplica = () =>
    createTestPeer(createRoutes({ ...deps, inserts: createPostInserts(sql) }));
  const service = startReplica();
  const posts = showAnswers(service.client(PostService));
  const tasks = peer.client(TaskService);
  const consumerOf = (topic: keyof typeof eventHandlers) =>
    createBatchHandler({ topic, handlers: eventHandlers[topic], logger });
  // A consumer counts the tries of each event, so every topic keeps its consumer.
  const consumers = {
    "delivery.events.v1": consumerOf("delivery.events.v1"),
    "engagement.events.v1": consumerOf("engagement.events.v1"),
  };
  return {
    database,
    sql,
    /** Connects with the migration role, which may truncate and change tables. */
    migrationSql: database.migrationSql,
    peers,
    nudges,
    posts,
    /** Returns a client of another replica, which inserts posts with statements of its own. */
    addReplica: () => showAnswers(startReplica().client(PostService)),
    targets: service.client(TargetService),
    audit: service.client(AuditService),
    parkedEvents: service.client(ParkedEventService),
    limits: service.client(PostLimitService),
    retention: service.client(RetentionService),
    /** Removes all ended posts that are older than 400 days, like one run of the job. */
    removeOld: async () => {
      const removal = { sql, media: deps.media, logger, retentionDays: deps.retentionDays };
      let after: string | undefined = NIL_ID;
      while (after !== undefined) after = await removePage(removal, after);
    },
    quota: service.client(QuotaService),
    rowImports: service.client(RowImportService),
    overview: service.client(OverviewService),
    mediaUses: service.client(MediaUseService),
    /** Passes records to the event consumer of the posts service, as the event bus does. */
    consume: (
      records: Parameters<ReturnType<typeof consumerOf>>[1],
      topic: keyof typeof eventHandlers = "delivery.events.v1",
    ) => sql.begin((tx) => consumers[topic](tx, records)),
    /**
     * Applies reports of the delivery service about targets in one transaction, in the given order.
     */
    report: (updates: readonly TargetUpdated[]) =>
      sql.begin((tx) => applyTargetUpdates(tx, updates)),
    reportDeletions: (updates: readonly DeletionUpdated[]) =>
      sql.begin((tx) => applyDeletionUpdates(tx, updates)),
    slots: service.client(QueueSlotService),
    /** Starts the posts that are due, like one run of the scheduler. */
    startDue: () => startDueBatch({ sql, nudgeRelay, missedAfterMs: 86_400_000 }),
    sweep: (sweepAfterMs = 0) => sweepTargets({ sql, tasks, sweepAfterMs, nudgeRelay, logger }),
    /** Returns the events in the outbox, oldest first, as `[name, message]`. */
    events: () => readEvents(sql),
    createPost: async ({ options = {}, ...change }: PostChange): Promise<ShownPost> => {
      const usual = { content: "hello", createdVia: "rest", options: JSON.stringify(options) };
      const { post } = await posts.createPost({ ...usual, ...change });
      if (post === undefined) throw new Error("an accepted post is missing in its answer");
      return post;
    },
    getPost: async (workspaceId: string, id: string): Promise<ShownPost> => {
      const { post } = await posts.getPost({ workspaceId, id });
      if (post === undefined) throw new Error("a post is missing in its answer");
      return post;
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

export async function startPostsForFile(change?: Parameters<typeof startPosts>[0]) {
  const posts = await startPosts(change);
  afterAll(() => posts[Symbol.asyncDispose]());
  return posts;
}

export type Posts = Awaited<ReturnType<typeof startPosts>>;

type AnyEvent = MessageShape<(typeof EVENTS)[number]>;

async function readEvents(sql: Sql): Promise<[name: string, message: AnyEvent][]> {
  const rows = await sql<{ type: string; payload: string }[]>`
    select type, payload from outbox order by id`;
  return rows.map(({ type, payload }) => {
    const schema = EVENTS.find(({ typeName }) => typeName === type);
    if (schema === undefined) throw new Error(`unexpected event ${type}`);
    return [schema.name, fromJsonString(schema, payload)];
  });
}

export const newWorkspace = (): string => randomUUID();

interface UpdateChange {
  readonly generation?: number;
  readonly errorCode?: string;
  readonly attemptCount?: number;
  readonly attempt?: ReturnType<typeof attempt>;
}

/**
 * Builds the reports of the delivery service about the targets of one post. Each report of a
 * publish request has a higher version than the report before.
 */
export function deliveryOf(post: ShownPost) {
  const versions = new Map<string, number>();
  return (
    ordinal: number,
    status: "publishing" | "published" | "failed",
    change: UpdateChange = {},
  ): TargetUpdated => {
    const target = post.targets[ordinal];
    if (target === undefined) throw new Error(`the post has no target ${ordinal}`);
    const generation = change.generation ?? 1;
    const key = `${target.id} ${generation}`;
    const version = (versions.get(key) ?? 0) + 1;
    versions.set(key, version);
    const outcome =
      status === "published"
        ? {
            externalId: `external-${ordinal}`,
            permalink: `https://example.test/${ordinal}`,
            publishedAt: timestampFromDate(new Date(Date.UTC(2026, 0, 1, 0, 0, 10 + ordinal))),
          }
        : {};
    const failure =
      status === "failed" ? { errorCode: "content_rejected", errorMessage: "no" } : {};
    return create(TargetUpdatedSchema, {
      workspaceId: post.workspaceId,
      postId: post.id,
      targetId: target.id,
      generation,
      version: BigInt(version),
      status,
      ...outcome,
      ...failure,
      ...change,
    });
  };
}

/** Builds a report of the delivery service about the deletion of a target on its platform. */
export function deletionOf(
  post: ShownPost,
  ordinal: number,
  change: { deletion?: number; version?: bigint; status: string; errorCode?: string },
): DeletionUpdated {
  return create(DeletionUpdatedSchema, {
    workspaceId: post.workspaceId,
    postId: post.id,
    targetId: post.targets[ordinal]?.id ?? "",
    deletion: 1,
    version: 1n,
    ...change,
  });
}

/** Builds an attempt to publish a target, as a report of the delivery service contains it. */
export function attempt(number: number, outcome: string, code = "") {
  return {
    number,
    outcome,
    code,
    startedAt: timestampFromDate(new Date(Date.UTC(2026, 0, 1, 0, number))),
    finishedAt: timestampFromDate(new Date(Date.UTC(2026, 0, 1, 0, number, 1))),
  };
}
