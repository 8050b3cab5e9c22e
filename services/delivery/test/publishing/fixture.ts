import { createSecretKey } from "node:crypto";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { create, fromJsonString, toJsonString, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  AccountService,
  type RequireReconnectRequest,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import {
  CredentialService,
  type CredentialSchema,
} from "@postrider/contracts/accounts/v1/credential_service_pb";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
  type DeletionUpdated,
  type TargetUpdated,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { PauseService } from "@postrider/contracts/delivery/v1/pause_service_pb";
import { PublishingStatusService } from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import { RecoveryService } from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import type { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import {
  PostDeletionRequestedSchema,
  PostPublishRequestedSchema,
} from "@postrider/contracts/posts/v1/posts_events_pb";
import { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import type { SendGuard, Clocks } from "@postrider/platforms/http/send-once";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Handles } from "@postrider/platforms/publishing/handles";
import type { DeletionOutcome, Outcome } from "@postrider/platforms/publishing/outcome";
import type {
  AccountAccess,
  Publication,
  PublicationMedia,
} from "@postrider/platforms/publishing/publication";
import type { PrepareStep } from "@postrider/platforms/publishing/steps";
import type { UnknownCall, Verdict } from "@postrider/platforms/publishing/verdict";
import type { BusRecord } from "@postrider/shared/bus";
import { createBatchHandler } from "@postrider/shared/bus/consumer";
import { ServiceError, unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { openSql, type Sql } from "@postrider/shared/postgres";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import { expect } from "vitest";
import type { CallStatus } from "#src/calls/call.ts";
import { MIGRATIONS } from "#src/config.ts";
import { PUBLISHING_HANDLERS } from "#src/publishing/consumers/index.ts";
import { insertDeployment } from "#src/publishing/db/deployment.ts";
import { createHandleSealing } from "#src/publishing/db/handles.ts";
import type { StoredHandles } from "#src/publishing/domain/task.ts";
import { startClaimDeletions } from "#src/publishing/jobs/claim-deletions/claim-deletions.ts";
import type { OpenPermalink } from "#src/publishing/jobs/claim-deletions/read-checked-post.ts";
import { startClaimTasks, type TaskClaims } from "#src/publishing/jobs/claim-tasks/claim-tasks.ts";
import type {
  PublishingDeps,
  PublishingSettings,
} from "#src/publishing/operations/dependencies.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { createRoutes } from "#src/publishing/rpc/routes.ts";
import { Spool } from "#src/publishing/storage/spool.ts";
import { addNudge, nudgeWorkers } from "../nudges.ts";

export const SCHEMA_FILE = fileURLToPath(new URL("../../schema.sql", import.meta.url));
export const logger = createLogger({
  service: "delivery",
  level: "silent",
});

/** The encryption of handles (upload ids and similar values from platforms) that tests use. */
export const SEALING = createHandleSealing([
  { id: "k1", secret: createSecretKey(Buffer.alloc(32, 7)) },
]);

/**
 * Id of the deployment of Postrider to which the data of tests belongs: the default of
 * `DEPLOYMENT_ID`.
 */
export const DEPLOYMENT = "default";

export async function openDatabase(poolSize = 5): Promise<TestDatabase> {
  const database = await createTestDatabase({
    service: "delivery",
    migrationsFolder: MIGRATIONS,
    poolSize,
  });
  await insertDeployment(database.sql, DEPLOYMENT);
  return database;
}

/** A target with the data that the posts service and the accounts service return for it. */
export interface TestTarget {
  readonly targetId: string;
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: PlatformId;
  readonly text: string;
  readonly title?: string;
  readonly privacy?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly media: readonly PublicationMedia[];
  generation: number;
  wanted: boolean;
  /**
   * Whether the posts service still returns the target's content to publish requests (generations)
   * that a newer request has replaced.
   */
  keepsOlder: boolean;
  dueAt: Date;
  publishBefore: Date;
}

interface TestAccount {
  status: string;
  version: number;
  token: string;
  externalId: string;
  username: string;
  /**
   * The access token of the account after a renewal; undefined if the platform's token endpoint
   * does not answer.
   */
  refreshed: { status: string; token: string } | undefined;
}

export interface Call {
  readonly targetId: string;
  readonly accountId: string;
  readonly text: string;
  readonly token: string;
  readonly handles: Handles;
}

export type Reaction = (
  call: Call,
  guard: SendGuard,
  make: () => Extract<Outcome, { kind: "published" }>,
) => Outcome | Promise<Outcome>;

/** The platform publishes the post when the promise resolves. */
export function after(answer: Promise<void>): Reaction {
  return async (_call, _guard, make) => {
    await answer;
    return make();
  };
}

/**
 * In-memory replacements of the services that the delivery service calls: the RPCs of the posts and
 * accounts services, and the connector of one platform. The connector publishes every post unless a
 * test sets other outcomes.
 */
export class World {
  readonly targets = new Map<string, TestTarget>();
  readonly accounts = new Map<string, TestAccount>();
  readonly reconnects: RequireReconnectRequest[] = [];
  /** Whether the accounts service answers when it is told the new id of an account. */
  canMove = true;
  /** What the delivery service reported that platforms offer accounts. */
  readonly offers: (readonly [accountId: string, available: unknown])[] = [];
  readonly calls: Call[] = [];
  /** Posts that readers of the simulated platform see. */
  readonly visible: { targetId: string; id: string; text: string }[] = [];
  /**
   * Outcomes of the next publishing calls, in order. A publishing call without an entry succeeds.
   */
  reactions: Reaction[] = [];
  verdicts: ((call: UnknownCall, publication: Publication) => Verdict | Promise<Verdict>)[] = [];
  readonly looks: UnknownCall[] = [];
  /**
   * Requests to delete a post that reached the simulated platform. `deletionReactions` contains the
   * outcomes of the next deletions, in order. A deletion without an entry succeeds.
   */
  readonly deletes: { readonly account: AccountAccess; readonly externalId: string }[] = [];
  deletionReactions: ((signal: AbortSignal) => DeletionOutcome | Promise<DeletionOutcome>)[] = [];
  canDelete = true;
  prepare: PrepareStep[] = [];
  maxResends = 1;
  isUp = { posts: true, accounts: true };
  /** Ids of targets whose content the posts service cannot read. */
  readonly unreadable = new Set<string>();
  /**
   * An account whose access token is being renewed. Requests for its credential wait until the
   * promise `ended` resolves.
   */
  renewing: { readonly accountId: string; readonly ended: Promise<void> } | undefined;
  contentRequests = 0;
  #made = 0;

  addTarget(given: Partial<TestTarget> = {}): TestTarget {
    const target: TestTarget = {
      targetId: newId(),
      workspaceId: newId(),
      postId: newId(),
      accountId: newId(),
      platform: "x",
      text: `hello ${newId()}`,
      media: [],
      generation: 1,
      wanted: true,
      keepsOlder: false,
      dueAt: new Date(Date.now() - 1000),
      publishBefore: new Date(Date.now() + 3_600_000),
      ...given,
    };
    this.targets.set(target.targetId, target);
    if (!this.accounts.has(target.accountId))
      this.accounts.set(target.accountId, {
        status: "active",
        version: 1,
        token: "first-token",
        externalId: `external-${target.accountId}`,
        username: "sailor",
        refreshed: { status: "active", token: "second-token" },
      });

    return target;
  }

  account(target: TestTarget): TestAccount {
    const account = this.accounts.get(target.accountId);
    if (account === undefined) throw new Error("no such account");
    return account;
  }

  /** Makes a post visible on the simulated platform. */
  make(call: Pick<Call, "targetId" | "text">): Extract<Outcome, { kind: "published" }> {
    this.#made += 1;
    const id = `id-${this.#made}`;
    this.visible.push({ targetId: call.targetId, id, text: call.text });
    return { kind: "published", externalId: id, permalink: `https://example.test/${id}` };
  }

  connector(platform: PlatformId = "x"): PublishingConnector {
    return {
      platform,
      maxResends: this.maxResends,
      steps: () => this.prepare,
      publish: async (publication, handles, guard) => {
        const target = this.targets.get(publication.targetId);
        const call = {
          targetId: publication.targetId,
          accountId: target?.accountId ?? "",
          text: publication.text,
          token: publication.accessToken,
          handles,
        };
        const reaction = this.reactions.shift() ?? ((_call, _guard, make) => make());
        if (!guard.mayStillSend()) return { kind: "not_sent" };
        this.calls.push(call);
        return await reaction(call, guard, () => this.make(call));
      },
      reconcile: async (publication, _handles, call) => {
        this.looks.push(call);
        const verdict = this.verdicts.shift();
        if (verdict === undefined)
          return { kind: "cannot_tell", message: "the platform cannot tell" };
        return await verdict(call, publication);
      },
      canDelete: this.canDelete,
      delete: async (account, externalId, signal) => {
        this.deletes.push({ account, externalId });
        const reaction = this.deletionReactions.shift();
        const outcome = reaction === undefined ? undefined : await reaction(signal);
        if (outcome !== undefined && outcome.kind !== "deleted") return outcome;
        const index = this.visible.findIndex(({ id }) => id === externalId);
        if (index !== -1) this.visible.splice(index, 1);
        return { kind: "deleted" };
      },
    };
  }

  readonly routes = (router: ConnectRouter): void => {
    router.service(TargetService, {
      batchGetTargetContents: ({ refs }) => {
        this.contentRequests += 1;
        if (!this.isUp.posts) throw unavailable();
        if (refs.some(({ targetId }) => this.unreadable.has(targetId)))
          throw new ServiceError("internal", "internal");
        return {
          contents: refs.map((ref) => {
            const target = this.targets.get(ref.targetId);
            if (target?.wanted !== true) return { ref, wanted: false };
            const wanted = target.keepsOlder || target.generation === ref.generation;
            const media = target.media.map((one) => toContentMedia(ref.workspaceId, one));
            if (!wanted) return { ref, wanted };
            const title = target.title === undefined ? {} : { title: target.title };
            const privacy = target.privacy === undefined ? {} : { privacy: target.privacy };
            const settings = JSON.stringify(target.settings ?? {});
            return { ref, wanted, text: target.text, ...title, ...privacy, media, settings };
          }),
        };
      },
    });
    router.service(CredentialService, {
      batchGetCredentials: async ({ refs }) => {
        if (!this.isUp.accounts) throw unavailable();
        if (refs.some(({ accountId }) => accountId === this.renewing?.accountId))
          await this.renewing?.ended;
        return { credentials: refs.map((ref) => this.#credential(ref)) };
      },
      refreshCredential: ({ ref }) => {
        const account = this.accounts.get(ref?.accountId ?? "");
        if (ref === undefined || account?.refreshed === undefined) throw unavailable();
        account.version += 1;
        account.status = account.refreshed.status;
        account.token = account.refreshed.token;
        return { credential: this.#credential(ref) };
      },
    });
    router.service(AccountService, {
      requireReconnect: (request) => {
        this.reconnects.push(request);
        return {};
      },
      moveAccount: ({ ref, fromExternalId, toExternalId }) => {
        const account = this.accounts.get(ref?.accountId ?? "");
        if (!this.canMove || account === undefined) throw unavailable();
        if (account.externalId === fromExternalId) account.externalId = toExternalId;
        return {};
      },
      recordAvailable: ({ ref, available }) => {
        this.offers.push([ref?.accountId ?? "", JSON.parse(available)]);
        return {};
      },
    });
  };

  #credential(ref: {
    workspaceId: string;
    accountId: string;
  }): MessageInitShape<typeof CredentialSchema> {
    const account = this.accounts.get(ref.accountId);
    if (account === undefined) return { ref: { ...ref }, accountStatus: "unknown" };
    const { status, version, token, externalId, username } = account;
    return {
      ref: { workspaceId: ref.workspaceId, accountId: ref.accountId },
      accountStatus: status,
      externalId,
      username,
      accessToken: status === "active" ? token : "",
      version: BigInt(version),
    };
  }
}

export function toContentMedia(
  workspaceId: string,
  { id, kind, contentType, bytes, sha256, fileName, width, height, durationMs }: PublicationMedia,
): MessageInitShape<typeof MediaSchema> {
  const delivery = {
    deliveryContentType: contentType,
    deliveryBytes: BigInt(bytes),
    deliverySha256: sha256,
  };
  const size = { width: width ?? 0, height: height ?? 0 };
  const duration = durationMs === null ? {} : { durationMs: BigInt(durationMs) };
  return { id, workspaceId, kind, fileName, ...size, ...duration, ...delivery };
}

/** Settings of the delivery service with times that are short enough for tests. */
const SETTINGS: PublishingSettings = {
  retryMs: [20, 30, 40],
  leaseMs: 600,
  accountPauseMs: [100, 200],
  visibleCallMs: 2_000,
  reconcileTimeScale: 1,
  holdAfterUnknowns: 5,
  probeMs: [200, 400],
  maxPerPlatform: 64,
};

/** A worker in the test process that acts as a separate delivery process. */
export interface TestWorker extends AsyncDisposable {
  readonly claims: TaskClaims;
  /** Crashes the worker: from now on it writes nothing to the database. */
  crash(): Promise<void>;
}

export interface WorkerOptions {
  readonly settings?: Partial<PublishingSettings>;
  readonly clocks?: Clocks;
  readonly connectors?: PublishingDeps["connectors"];
  readonly deploymentId?: string;
  readonly sealing?: PublishingDeps["sealing"];
  readonly media?: PublishingDeps["media"];
  /** Opens the permalinks of live checks. */
  readonly openPermalink?: OpenPermalink;
  /**
   * Wraps the database connection pool of the worker, for example in one that loses answers of the
   * database.
   */
  readonly wrapSql?: (sql: Sql) => Sql;
}

/**
 * Clocks that never advance, so that on a slow machine no publishing call becomes too old to be
 * sent.
 */
export const STILL_CLOCKS: Clocks = { monotonic: () => 0, wall: () => 0 };

/** A database, and a world of the test whose workers use it. */
export async function openStage(poolSize?: number) {
  return { ...(await openDatabase(poolSize)), world: new World() };
}

function findMedia(world: World, id: string): PublicationMedia {
  const all = [...world.targets.values()].flatMap(({ media }) => media);
  const media = all.find((one) => one.id === id);
  if (media === undefined) throw new Error("no target of the test has this media");
  return media;
}

export function publishingDeps(
  world: World,
  sql: Sql,
  options: WorkerOptions = {},
): PublishingDeps {
  const peer = createTestPeer(world.routes);
  return {
    sql,
    logger,
    onEvents: () => undefined,
    connectors: options.connectors ?? { x: world.connector() },
    posts: peer.client(TargetService),
    accounts: {
      credentials: peer.client(CredentialService),
      accounts: peer.client(AccountService),
    },
    guard: createPublishingGuard({ sql, logger, deploymentId: options.deploymentId ?? DEPLOYMENT }),
    media: options.media ?? {
      describe: ({ id }) => findMedia(world, id),
      prepare: (items) =>
        Promise.resolve(
          items.map(({ media }) => ({ kind: "file", media: findMedia(world, media.id) })),
        ),
    },
    spool: new Spool({ folder: tmpdir(), maxBytes: 100_000_000 }),
    sealing: options.sealing ?? SEALING,
    settings: { ...SETTINGS, ...options.settings },
    clocks: options.clocks ?? STILL_CLOCKS,
    random: Math.random,
  };
}

/** Starts a worker with a database connection pool of its own. */
export function startWorker(
  database: TestDatabase,
  world: World,
  options: WorkerOptions = {},
): TestWorker {
  const pool = openSql({ url: database.url, poolSize: 4, applicationName: "test-worker" });
  const sql = options.wrapSql?.(pool) ?? pool;
  const deps = { ...publishingDeps(world, sql, options), owner: newId() };
  const claims = startClaimTasks(deps);
  const openPermalink = options.openPermalink ?? (() => Promise.resolve(200));
  const deletions = startClaimDeletions({ ...deps, openPermalink: () => openPermalink });
  const forget = addNudge(database.sql, () => {
    claims.nudge();
    deletions.nudge();
  });
  let isDead = false;
  return {
    claims,
    crash: async () => {
      isDead = true;
      forget();
      await sql.end({ timeout: 0 });
    },
    [Symbol.asyncDispose]: async () => {
      if (isDead) return;
      forget();
      await deletions[Symbol.asyncDispose]();
      await claims[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
    },
  };
}

/**
 * Creates the event with which the posts service requests the publication of one post's targets.
 */
export function toRecord(targets: readonly TestTarget[]): BusRecord {
  const [first] = targets;
  if (first === undefined) throw new Error("no targets");
  const message = create(PostPublishRequestedSchema, {
    workspaceId: first.workspaceId,
    postId: first.postId,
    version: 1n,
    dueAt: timestampFromDate(first.dueAt),
    publishBefore: timestampFromDate(first.publishBefore),
    targets: targets.map(({ targetId, accountId, platform, generation }) => ({
      targetId,
      accountId,
      platform,
      generation,
    })),
  });
  return {
    key: first.postId,
    headers: { ce_id: newId(), ce_type: PostPublishRequestedSchema.typeName },
    value: toJsonString(PostPublishRequestedSchema, message),
  };
}

/**
 * Records targets as published, with the given ids of their posts on the platform, without a
 * publishing call.
 */
export async function insertPublished(
  sql: Sql,
  posts: readonly { readonly target: TestTarget; readonly externalId: string }[],
): Promise<void> {
  const rows = posts.map(({ target, externalId }) => ({
    target_id: target.targetId,
    generation: target.generation,
    workspace_id: target.workspaceId,
    post_id: target.postId,
    account_id: target.accountId,
    platform: target.platform,
    external_id: externalId,
  }));
  await sql`
    insert into publish_tasks (
      target_id, generation, workspace_id, post_id, account_id, platform, external_id, status, wake_at, due_at, publish_before
    )
    select k.target_id, k.generation, k.workspace_id, k.post_id, k.account_id, k.platform, k.external_id, 'published',
      now(), now(), now()
    from jsonb_to_recordset(${sql.json(rows)}) as k(
      target_id uuid, generation int, workspace_id uuid, post_id uuid, account_id uuid, platform text, external_id text
    )`;
}

/** Creates the event with which the posts service requests the deletion of a published target. */
export function toDeletionRecord(target: TestTarget, externalId: string, deletion = 1): BusRecord {
  const { workspaceId, postId, targetId, accountId, platform } = target;
  const message = create(PostDeletionRequestedSchema, {
    workspaceId,
    postId,
    version: 2n,
    targets: [{ targetId, accountId, platform, externalId, deletion }],
  });
  return {
    key: postId,
    headers: { ce_id: newId(), ce_type: PostDeletionRequestedSchema.typeName },
    value: toJsonString(PostDeletionRequestedSchema, message),
  };
}

/** Returns the events about deletions of a target, oldest first. */
export async function listDeletionUpdates(
  sql: Sql,
  target: TestTarget,
): Promise<readonly DeletionUpdated[]> {
  const rows = await sql<{ payload: string }[]>`
    select payload
    from outbox
    where key = ${target.postId}
    and type = ${DeletionUpdatedSchema.typeName}
    order by id`;
  return rows.map(({ payload }) => fromJsonString(DeletionUpdatedSchema, payload));
}

/** Returns the latest event about deletions of a target. */
export async function lastDeletion(sql: Sql, target: TestTarget) {
  return (await listDeletionUpdates(sql, target)).at(-1);
}

/** Passes events to the delivery service's event consumer, as the message bus does. */
export async function consume(sql: Sql, records: readonly BusRecord[]): Promise<void> {
  const handle = createBatchHandler({
    topic: "posts.events.v1",
    handlers: PUBLISHING_HANDLERS["posts.events.v1"],
    logger,
  });
  await sql.begin((tx) => handle(tx, records));
  nudgeWorkers(sql);
}

/** Requests the publication of targets, each as the only target of a post. */
export async function request(sql: Sql, ...targets: readonly TestTarget[]): Promise<void> {
  await consume(
    sql,
    targets.map((target) => toRecord([target])),
  );
}

/** Returns the events about a target, oldest first. */
export async function listUpdates(sql: Sql, target: TestTarget): Promise<readonly TargetUpdated[]> {
  const rows = await sql<{ payload: string }[]>`
    select payload
    from outbox
    where key = ${target.postId}
    and type = ${TargetUpdatedSchema.typeName}
    order by id`;
  return rows
    .map(({ payload }) => fromJsonString(TargetUpdatedSchema, payload))
    .filter(({ targetId }) => targetId === target.targetId);
}

/** Returns the latest event about a target. */
export async function lastUpdate(sql: Sql, target: TestTarget) {
  return (await listUpdates(sql, target)).at(-1);
}

export interface TaskRow {
  readonly status: string;
  readonly externalId: string | null;
  readonly errorCode: string | null;
  readonly fence: number;
  readonly crashCount: number;
  readonly callNumber: number;
  readonly attemptNumber: number;
  readonly resendCount: number;
  readonly generation: number;
}

export async function readTask(
  sql: Sql,
  target: TestTarget,
  generation = target.generation,
): Promise<TaskRow> {
  const [row] = await sql<TaskRow[]>`
    select status, external_id, error_code, fence, crash_count, call_number, attempt_number, resend_count, generation
    from publish_tasks
    where target_id = ${target.targetId}
    and generation = ${generation}`;
  if (row === undefined) throw new Error("no such task");
  return row;
}

export async function listAttempts(sql: Sql, target: TestTarget) {
  const rows = await sql<
    { number: number; outcome: string | null; code: string; externalId: string | null }[]
  >`
    select number, outcome, code, external_id
    from publish_attempts
    where target_id = ${target.targetId}
    order by number`;
  return rows.map((row) => ({ ...row }));
}

/** Waits until the publish task of a target has the given status. Returns the task. */
export async function untilStatus(
  sql: Sql,
  target: TestTarget,
  status: CallStatus,
  options: { readonly timeoutMs?: number } = {},
) {
  return await eventually(async () => {
    const task = await readTask(sql, target);
    expect(task.status).toBe(status);
    return task;
  }, options);
}

/** Returns the decrypted handles (upload ids and similar values) of a target's publish task. */
export async function readHandles(
  sql: Sql,
  { targetId, generation }: TestTarget,
): Promise<Handles> {
  const [row] = await sql<{ handles: StoredHandles }[]>`
    select handles
    from publish_tasks
    where target_id = ${targetId}
    and generation = ${generation}`;
  return SEALING.open({ targetId, generation }, row?.handles ?? null);
}

export function createRpcClients(sql: Sql) {
  const peer = createTestPeer(
    createRoutes({
      sql,
      deploymentId: DEPLOYMENT,
      nudgeClaims: () => undefined,
      handlers: PUBLISHING_HANDLERS["posts.events.v1"],
    }),
  );
  return {
    tasks: peer.client(TaskService),
    pauses: peer.client(PauseService),
    status: peer.client(PublishingStatusService),
    recovery: peer.client(RecoveryService),
  };
}
