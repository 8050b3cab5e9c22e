import { create, toJsonString, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { AutomationRun } from "@postrider/contracts/engagement/v1/automation_service_pb";
import type { CommentAction } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { PostSchema, type Post } from "@postrider/contracts/posts/v1/post_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { PostDetailJson } from "@postrider/rest/posts/schemas";
import { createBatchHandler } from "@postrider/shared/bus/consumer";
import { ServiceError, unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { MIGRATIONS } from "#src/config.ts";
import type { EngagementReader } from "#src/webhooks/clients/objects.ts";
import { WEBHOOK_HANDLERS } from "#src/webhooks/consumers/index.ts";
import { insertSubscription } from "#src/webhooks/db/subscriptions.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import { composePage } from "#src/webhooks/jobs/compose-payloads/compose-page.ts";
import type { ComposeDeps } from "#src/webhooks/jobs/compose-payloads/read-objects.ts";
import type { WaitingLimits } from "#src/webhooks/operations/backlogs.ts";
import { createBacklogs, createPartitions } from "./fixture.ts";

/**
 * The services that own what webhook events are about (posts, accounts, media, comment actions and
 * automation runs), in memory.
 */
class Owners {
  readonly posts = new Map<string, Post>();
  readonly accounts = new Map<string, Account>();
  readonly media = new Map<string, Media>();
  readonly actions = new Map<string, CommentAction>();
  readonly runs = new Map<string, AutomationRun>();
  /** Names of the services that do not answer in the test. */
  readonly down = new Set<"posts" | "accounts" | "media">();
  /**
   * Ids of posts that the posts service of the test cannot read: a call with one of them fails with
   * an internal error.
   */
  readonly unreadable = new Set<string>();
  /** Maximum number of posts that one call to the posts service returns. */
  maxPosts = 100;
  calls = 0;
  /** Called at the beginning of each call to the posts service. */
  onPosts: () => Promise<void> = () => Promise.resolve();

  /** False: the media service is of the release before. */
  signsUrls = true;
  readonly peer = createTestPeer((router) => {
    router.service(PostService, {
      batchGetPosts: async ({ refs }) => {
        this.calls += 1;
        await this.onPosts();
        if (this.down.has("posts")) throw unavailable();
        if (refs.some(({ id }) => this.unreadable.has(id)))
          throw new ServiceError("internal", "internal");
        const answered = refs.slice(0, this.maxPosts);
        const posts = answered.flatMap(({ id }) => this.posts.get(id) ?? []);
        return refs.length > this.maxPosts ? { posts, deferredFrom: this.maxPosts } : { posts };
      },
    });
    router.service(AccountService, {
      batchGetAccounts: ({ refs }) => {
        if (this.down.has("accounts")) throw unavailable();
        return { accounts: refs.flatMap(({ accountId }) => this.accounts.get(accountId) ?? []) };
      },
    });
    router.service(MediaService, {
      batchGetMedia: ({ workspaceId, ids, withUrls }) => {
        if (this.down.has("media")) throw unavailable();
        const media = ids.flatMap((id) => this.media.get(id) ?? []);
        const urls = ids.map((id) => [id, `https://media.test/${workspaceId}/${id}`] as const);
        return { media, urls: withUrls && this.signsUrls ? Object.fromEntries(urls) : {} };
      },
    });
  });
}

export interface QueuedEvent {
  readonly subscriptionId: string;
  readonly type: string;
  readonly payload: string;
}

/**
 * The part of webhooks that turns domain events into queued deliveries, on a database of its own.
 *
 * @param limits Limits of waiting deliveries. Default: those of production.
 * @param reader Reads comment actions and automation runs. Default: those in `owners`.
 */
export async function startEvents(reader?: EngagementReader, limits?: WaitingLimits) {
  const database = await createTestDatabase({
    service: "delivery",
    migrationsFolder: MIGRATIONS,
    poolSize: 6,
  });
  const { sql, migrationSql } = database;
  await createPartitions(sql);
  const owners = new Owners();
  const logger = createLogger({ service: "delivery", level: "silent" });
  const backlogs = createBacklogs(limits);
  const deps: ComposeDeps = {
    sql,
    logger,
    backlogs,
    posts: owners.peer.client(PostService),
    accounts: owners.peer.client(AccountService),
    media: owners.peer.client(MediaService),
    engagement: reader ?? {
      listCommentActions: (_sql, refs) =>
        Promise.resolve(refs.flatMap(({ id }) => owners.actions.get(id) ?? [])),
      listAutomationRuns: (_sql, refs) =>
        Promise.resolve(refs.flatMap(({ id }) => owners.runs.get(id) ?? [])),
    },
    locale: "en",
  };
  return {
    sql,
    migrationSql,
    owners,
    deps,
    /** Passes events to the consumers of webhooks, as the bus does. */
    publish: (topic: string, records: readonly ReturnType<typeof record>[]) =>
      sql.begin((tx) =>
        createBatchHandler({ topic, handlers: WEBHOOK_HANDLERS[topic] ?? [], logger })(tx, records),
      ),
    subscribe: (change: Partial<Subscription> = {}) => subscribe(sql, change),
    compose: () => composePage(deps),
    /** Lists the queued webhook deliveries, oldest event first. */
    queued: async (workspaceId: string) =>
      await sql<QueuedEvent[]>`
        select queue.subscription_id, event.type, event.payload
        from webhook_queue as queue
        join webhook_events as event on event.id = queue.event_id
        where event.workspace_id = ${workspaceId}
        order by event.id, queue.subscription_id`,
    /** Lists the webhook deliveries of a workspace, oldest event first. */
    deliveries: async (workspaceId: string) =>
      await sql<{ subscriptionId: string; eventId: string; eventType: string }[]>`
        select subscription_id, event_id, event_type
        from webhook_deliveries
        where workspace_id = ${workspaceId}
        order by event_id, subscription_id`,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function subscribe(sql: Sql, change: Partial<Subscription>): Promise<Subscription> {
  const now = new Date();
  const subscription: Subscription = {
    id: newId(),
    workspaceId: newId(),
    url: "https://example.com/hook",
    description: "",
    events: ["*"],
    status: "active",
    disabledReason: null,
    signing: "hmac-sha256",
    publicKey: null,
    maxPerSecond: null,
    version: 1,
    createdAt: new Date(now.getTime() - 10 * 24 * 3_600_000),
    updatedAt: now,
    ...change,
  };
  await sql.begin((tx) => insertSubscription(tx, subscription));
  return subscription;
}

/** Builds a record of the event bus that contains an event. */
export function record<T extends DescMessage>(
  schema: T,
  message: MessageInitShape<T>,
  recordedAt = new Date(),
) {
  return {
    key: "key",
    value: toJsonString(schema, create(schema, message)),
    headers: {
      ce_id: newId(),
      ce_type: schema.typeName,
      ce_time: recordedAt.toISOString(),
      requestid: "request-1",
    },
  };
}

/** A post with one published target, as the posts service returns it. */
export function postOf(
  workspaceId: string,
  change: { readonly id?: string; readonly status?: string; readonly content?: string } = {},
): Post {
  const at = "2026-11-21T09:00:00.000Z";
  const detail: PostDetailJson = {
    id: newId(),
    status: "published",
    content: "hello",
    scheduledAt: null,
    startedAt: null,
    publishedAt: null,
    createdVia: "rest",
    createdAt: at,
    updatedAt: at,
    mediaIds: [],
    options: {},
    queueSlotRuleId: null,
    media: [],
    targets: [
      {
        id: newId(),
        accountId: newId(),
        platform: "bluesky",
        username: "rider.test",
        status: "published",
        externalId: "at://1",
        permalink: "https://example.com/1",
        publishedAt: at,
        error: null,
        attemptCount: 1,
        nextAttemptAt: null,
        metrics: null,
      },
    ],
    attempts: [],
    ...change,
  };
  const json = JSON.stringify(detail);
  return create(PostSchema, { id: detail.id, workspaceId, version: 3n, json });
}

export const detailOf = ({ json }: Post) => JSON.parse(json) as PostDetailJson;
