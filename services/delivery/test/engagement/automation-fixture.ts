import type { Client, ConnectRouter } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { AutomationService } from "@postrider/contracts/engagement/v1/automation_service_pb";
import type {
  CommentPage,
  CommentsConnector,
  PlatformComment,
} from "@postrider/platforms/comments/connector";
import type {
  OwnedMedia,
  PrivateRepliesConnector,
} from "@postrider/platforms/private-replies/connector";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { MIGRATIONS } from "#src/config.ts";
import type { PolledAccount } from "#src/engagement/db/automation-accounts.ts";
import { claimAccounts } from "#src/engagement/db/automation-claims.ts";
import { storeSending } from "#src/engagement/db/automation-sending.ts";
import { pollAccount } from "#src/engagement/jobs/poll-comments/poll-comments.ts";
import type { AutomationDeps } from "#src/engagement/operations/dependencies.ts";
import { createAutomationRoutes } from "#src/engagement/rpc/automation-service.ts";

const DAY_MS = 86_400_000;

type Read = Extract<CommentPage, unknown>;
type Failed = Exclude<Awaited<ReturnType<CommentsConnector["listComments"]>>, Read>;

/** An in-memory platform whose media have comments. */
export class CommentedPlatform {
  /** Comments by media, newest first. */
  readonly media = new Map<string, PlatformComment[]>();
  readonly publishedAt = new Map<string, Date>();
  readonly accounts = new Map<string, { workspaceId: string; platform: string; status: string }>();
  /** The calls that reached the platform, by their names and media. */
  readonly calls: string[] = [];
  /**
   * Private replies that the platform received. The fixture starts no worker that sends private
   * replies, so there must be none.
   */
  readonly sent: string[] = [];
  pageSize = 50;
  mediaPageSize = 50;
  /** Called before a page of comments is read; a returned value replaces the answer. */
  beforePage: (mediaId: string, after: string | undefined) => Promise<Failed | undefined> =
    async () => await Promise.resolve(undefined);
  beforeList: () => Failed | undefined = () => undefined;
  #made = 0;

  connectAccount(workspaceId: string, platform = "instagram"): string {
    const id = newId();
    this.accounts.set(id, { workspaceId, platform, status: "active" });
    return id;
  }

  addMedia(publishedAt = new Date(Date.now() - 30 * DAY_MS)): string {
    this.#made += 1;
    const id = `media-${this.#made}`;
    this.media.set(id, []);
    this.publishedAt.set(id, publishedAt);
    return id;
  }

  /**
   * Writes a comment, by default one second after the current time, so that it is newer than every
   * activation.
   */
  comment(mediaId: string, text: string, given: Partial<PlatformComment> = {}): PlatformComment {
    this.#made += 1;
    const comment = {
      id: `comment-${this.#made}`,
      text,
      authorId: `author-${this.#made}`,
      authorUsername: `reader${this.#made}`,
      isOwn: false,
      createdAt: new Date(Date.now() + 1_000),
      likeCount: 0,
      replyCount: 0,
      hidden: false,
      ...given,
    };
    const comments = this.media.get(mediaId) ?? [];
    const index = comments.findIndex(({ createdAt }) => createdAt <= comment.createdAt);
    comments.splice(index === -1 ? comments.length : index, 0, comment);
    return comment;
  }

  readonly comments: CommentsConnector = {
    platform: "instagram",
    actions: new Set(),
    listComments: async (_account, { mediaId, limit, after }) => {
      this.calls.push(`comments ${mediaId}`);
      const failed = await this.beforePage(mediaId, after);
      if (failed !== undefined) return failed;
      const comments = this.media.get(mediaId);
      if (comments === undefined) return { kind: "missing" };
      // The cursor is a position between two comments, as on real platforms, so that newer comments
      // do not move it.
      const from = after === undefined ? 0 : comments.findIndex(({ id }) => id === after) + 1;
      const size = Math.min(limit, this.pageSize);
      const page = comments.slice(from, from + size);
      const next = from + size < comments.length ? page.at(-1)?.id : undefined;
      return { kind: "page", comments: page, next };
    },
    readComment: () => Promise.reject(new Error("automations read no single comments")),
    reply: () => Promise.reject(new Error("automations do not reply in public")),
    reconcileReply: () => Promise.reject(new Error("automations do not reply in public")),
    setHidden: () => Promise.reject(new Error("automations hide nothing")),
  };

  readonly privateReplies: PrivateRepliesConnector = {
    platform: "instagram",
    windowMs: 7 * DAY_MS,
    maxBytes: 1_000,
    pollBudget: { scope: "account", calls: 100_000, windowMs: DAY_MS, unitsPerPage: 1 },
    listMedia: async (_account, { limit, after }) => {
      this.calls.push(`media ${after ?? "newest"}`);
      const failed = this.beforeList();
      if (failed !== undefined && failed.kind !== "missing") return failed;
      const all = [...this.media.keys()].map((id) => this.#owned(id)).toReversed();
      const from = after === undefined ? 0 : Number(after);
      const size = Math.min(limit, this.mediaPageSize);
      const next = from + size < all.length ? String(from + size) : undefined;
      return await Promise.resolve({ kind: "media", media: all.slice(from, from + size), next });
    },
    readMedia: async (_account, ids) => {
      this.calls.push(`media ${ids.join(",")}`);
      const media = ids.filter((id) => this.media.has(id)).map((id) => this.#owned(id));
      return await Promise.resolve({ kind: "media", media, next: undefined });
    },
    send: (_account, { commentId }) => {
      this.sent.push(commentId);
      return Promise.resolve({ kind: "published", externalId: commentId, permalink: null });
    },
    reconcile: () => Promise.reject(new Error("the fixture sends nothing")),
  };

  #owned(id: string): OwnedMedia {
    const publishedAt = this.publishedAt.get(id) ?? new Date(0);
    return { id, publishedAt, commentCount: this.media.get(id)?.length ?? 0 };
  }

  readonly routes = (router: ConnectRouter): void => {
    router.service(CredentialService, {
      batchGetCredentials: ({ refs }) => ({
        credentials: refs.map((ref) => ({
          ref: { ...ref },
          accountStatus: this.accounts.get(ref.accountId)?.status ?? "unknown",
          externalId: `external ${ref.accountId}`,
          username: "owner",
          accessToken: "token",
          version: 1n,
        })),
      }),
    });
    router.service(AccountService, {
      batchGetAccounts: ({ refs }) => ({
        accounts: refs.flatMap(({ workspaceId, accountId: id }) => {
          const account = this.accounts.get(id);
          if (account?.workspaceId !== workspaceId) return [];
          return [{ id, workspaceId, platform: account.platform, status: account.status }];
        }),
      }),
    });
  };
}

/**
 * The automations part of the delivery service on a database of its own, without the jobs. Tests
 * start polls themselves.
 */
export interface Automations extends AsyncDisposable {
  readonly sql: Sql;
  readonly database: TestDatabase;
  readonly platform: CommentedPlatform;
  readonly rpc: Client<typeof AutomationService>;
  readonly deps: AutomationDeps;
  /**
   * Reads the comments of every account with an active automation rule once, whether a poll is due
   * or not. Returns the number of polled accounts.
   */
  poll(): Promise<number>;
}

export async function startAutomations(
  settings: Partial<AutomationDeps["settings"]> = {},
): Promise<Automations> {
  const database = await createTestDatabase({
    service: "delivery",
    migrationsFolder: MIGRATIONS,
    poolSize: 5,
  });
  const { sql } = database;
  const platform = new CommentedPlatform();
  const deps = createDeps(sql, platform, settings);
  await storeSending(sql, deps.settings.isSendingEnabled);
  const cursorKeys = deriveCursorKeys("delivery", ["secret"]);
  const routes = createAutomationRoutes({ ...deps, cursorKeys, nudgePolls: () => undefined });
  return {
    sql,
    database,
    platform,
    deps,
    rpc: createTestPeer(routes).client(AutomationService),
    poll: () => pollAll(deps),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function pollAll(deps: AutomationDeps): Promise<number> {
  await deps.sql`
    update automation_accounts
    set poll_at = now()
    where poll_at < 'infinity'`;
  const claim = { platform: "instagram", limit: 100, leaseMs: deps.settings.leaseMs };
  const claimed = await claimAccounts(deps.sql, claim);
  for (const account of claimed) await pollAccount(deps, account);
  return claimed.length;
}

function createDeps(
  sql: Sql,
  platform: CommentedPlatform,
  settings: Partial<AutomationDeps["settings"]>,
): AutomationDeps {
  const peer = createTestPeer(platform.routes);
  return {
    sql,
    logger: createLogger({ service: "delivery", level: "silent" }),
    guard: { isOwn: () => Promise.resolve(true) } as AutomationDeps["guard"],
    onEvents: () => undefined,
    onActions: () => undefined,
    reportCaveats: () => Promise.resolve(),
    accounts: {
      credentials: peer.client(CredentialService),
      accounts: peer.client(AccountService),
    },
    connectors: {
      comments: { instagram: platform.comments },
      privateReplies: { instagram: platform.privateReplies },
      metrics: {},
    },
    settings: {
      isSendingEnabled: true,
      commentPollMs: 60_000,
      isMetricsRefreshOn: false,
      historyDays: 400,
      metricsDeferMs: 0,
      visibleCallMs: 1_000,
      leaseMs: 20_000,
      retryMs: [1_000],
      reconcileTimeScale: 1,
      ...settings,
    },
  };
}

/** A valid request to create a rule that answers comments with the word "link". */
export function newRule(workspaceId: string, accountId: string) {
  return {
    workspaceId,
    accountId,
    name: "Guide",
    keywords: ["link"],
    match: "any",
    excludeKeywords: ["spam"],
    message: "Here is the link: https://example.com/guide",
  };
}

/** Creates an active automation rule on a new account with one piece of media. */
export async function createActiveRule(
  { rpc, platform }: Pick<Automations, "rpc" | "platform">,
  given: Partial<ReturnType<typeof newRule>> & { readonly media?: { ids: string[] } } = {},
) {
  const workspaceId = given.workspaceId ?? newId();
  const accountId = given.accountId ?? platform.connectAccount(workspaceId);
  const mediaId = [...platform.media.keys()][0] ?? platform.addMedia();
  const created = await rpc.createAutomationRule({
    ...newRule(workspaceId, accountId),
    ...given,
  });
  const ruleId = created.rule?.id ?? "";
  await rpc.updateAutomationRule({ workspaceId, ruleId, status: "active" });
  return { workspaceId, accountId, mediaId, ruleId };
}

/**
 * Returns the runs of automation rules in a workspace, oldest first, as `comment status reason`.
 */
export async function listRunTexts(
  { rpc }: Pick<Automations, "rpc">,
  workspaceId: string,
): Promise<readonly string[]> {
  const { runs } = await rpc.listAutomationRuns({ workspaceId, limit: 100 });
  return runs
    .toReversed()
    .map(({ commentId, status, reason = "" }) => `${commentId} ${status} ${reason}`.trim());
}

export async function claimAccount({ sql }: Pick<Automations, "sql">): Promise<PolledAccount> {
  const [claimed] = await claimAccounts(sql, {
    platform: "instagram",
    limit: 1,
    leaseMs: 20_000,
  });
  if (claimed === undefined) throw new Error("the account was not claimed");
  return claimed;
}

/**
 * Returns the seconds until the comments of a workspace's account are polled next, to the nearest
 * ten: a busy machine needs some for the test itself.
 */
export async function readWaitSeconds(
  { sql }: Pick<Automations, "sql">,
  workspaceId: string,
): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    select (round(extract(epoch from poll_at - now()) / 10) * 10)::int as seconds
    from automation_accounts
    where workspace_id = ${workspaceId}`;
  return row?.seconds ?? Number.NaN;
}
