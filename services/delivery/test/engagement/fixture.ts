import type { ConnectRouter } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type {
  CommentPage,
  CommentsConnector,
  Missing,
  PlatformComment,
  ReplyRequest,
} from "@postrider/platforms/comments/connector";
import type { SendGuard, Clocks } from "@postrider/platforms/http/send-once";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type {
  PrivateRepliesConnector,
  PrivateReplyRequest,
  UnknownPrivateReply,
} from "@postrider/platforms/private-replies/connector";
import type { Failure, Outcome, Unknown } from "@postrider/platforms/publishing/outcome";
import type { UnknownCall, Verdict } from "@postrider/platforms/publishing/verdict";
import { unavailable } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import { openSql, type Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import type {
  EndedPrivateReply,
  NewManualAction,
  NewPrivateReply,
} from "#src/engagement/domain/comment-action.ts";
import {
  startClaimCommentActions,
  type ActionClaims,
  type ClaimActionsOptions,
} from "#src/engagement/jobs/claim-comment-actions/claim-comment-actions.ts";
import type {
  EngagementConnectors,
  EngagementSettings,
  FinishRuns,
} from "#src/engagement/operations/dependencies.ts";
import {
  insertManualAction,
  insertPrivateReplies,
} from "#src/engagement/operations/insert-actions.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { addNudge, nudgeWorkers } from "../nudges.ts";
import { DEPLOYMENT, logger, STILL_CLOCKS } from "../publishing/fixture.ts";

export interface TestAccount {
  readonly id: string;
  readonly workspaceId: string;
  readonly platform: PlatformId;
  status: string;
  version: number;
  token: string;
  externalId: string;
  username: string;
  /** The access token after a renewal; undefined if the token endpoint does not answer. */
  renewedToken: string | undefined;
}

/** A call that reached the scripted platform. */
export interface SentCall {
  readonly kind: "reply" | "private_reply" | "hide" | "unhide";
  readonly commentId: string;
  readonly token: string;
  readonly requestId?: string;
}

type Hidden = { readonly kind: "done" } | Missing | Failure | Unknown;
/**
 * How the scripted platform reacts to a call; `make` carries out the call and returns the id of the
 * reply.
 */
export type Reaction = (
  make: () => string,
  guard: SendGuard,
) => Outcome | Hidden | Promise<Outcome | Hidden>;

const SETTINGS: EngagementSettings = {
  isSendingEnabled: true,
  commentPollMs: 1_000,
  isMetricsRefreshOn: false,
  historyDays: 400,
  metricsDeferMs: 300_000,
  visibleCallMs: 1_000,
  leaseMs: 600,
  retryMs: [20, 30, 40],
  reconcileTimeScale: 0.01,
};

export const COMMENT: PlatformComment = {
  id: "comment-1",
  text: "How much is it?",
  authorId: "reader-1",
  authorUsername: "reader",
  isOwn: false,
  createdAt: new Date("2026-11-20T10:00:00Z"),
  likeCount: 3,
  replyCount: 0,
  hidden: false,
};

/** Of a reply or a private reply. */
type LookedFor = UnknownPrivateReply & Partial<Pick<UnknownCall, "isOwned">>;

/**
 * In-memory accounts, and a scripted platform with comments. The platform carries out every call
 * unless a test sets other reactions, and a search finds the replies that the platform published.
 */
export class CommentWorld {
  readonly accounts = new Map<string, TestAccount>();
  readonly reconnects: string[] = [];
  readonly calls: SentCall[] = [];
  /** Replies and private replies that the scripted platform has published. */
  readonly visible: { readonly commentId: string; readonly id: string }[] = [];
  /** Reactions of the scripted platform to the next calls, in order. */
  reactions: Reaction[] = [];
  /** Results of the next searches of the scripted platform, in order. */
  verdicts: (() => Verdict | Promise<Verdict>)[] = [];
  readonly looks: LookedFor[] = [];
  readonly ended: EndedPrivateReply[] = [];
  page: (signal: AbortSignal) => CommentPage | Missing | Failure | Promise<CommentPage> = () => ({
    kind: "page",
    comments: [COMMENT],
    next: undefined,
  });
  readComment: () =>
    | { readonly kind: "comment"; readonly comment: PlatformComment }
    | Missing
    | Failure = () => ({ kind: "comment", comment: COMMENT });
  readonly reads: { readonly mediaId: string; readonly after: string | undefined }[] = [];
  isAccountsUp = true;

  /** Lets the next call publish a reply only when the returned function is called. */
  holdReply(): () => void {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    this.reactions = [
      async (make) => {
        await released;
        return { kind: "published", externalId: make(), permalink: null };
      },
    ];
    return release;
  }

  addAccount(given: Partial<TestAccount> = {}): TestAccount {
    const account: TestAccount = {
      id: newId(),
      workspaceId: newId(),
      platform: "instagram",
      status: "active",
      version: 1,
      token: "first-token",
      externalId: newId(),
      username: "sailor",
      renewedToken: "second-token",
      ...given,
    };
    this.accounts.set(account.id, account);
    return account;
  }

  readonly routes = (router: ConnectRouter): void => {
    router.service(CredentialService, {
      batchGetCredentials: ({ refs }) => {
        if (!this.isAccountsUp) throw unavailable();
        return { credentials: refs.map((ref) => this.#credential(ref)) };
      },
      refreshCredential: ({ ref }) => {
        const account = this.accounts.get(ref?.accountId ?? "");
        if (ref === undefined || account?.renewedToken === undefined) throw unavailable();
        account.version += 1;
        account.token = account.renewedToken;
        return { credential: this.#credential(ref) };
      },
    });
    router.service(AccountService, {
      batchGetAccounts: ({ refs }) => ({
        accounts: refs.flatMap(({ workspaceId, accountId }) => {
          const account = this.accounts.get(accountId);
          if (account?.workspaceId !== workspaceId) return [];
          const { id, platform, status, externalId, username } = account;
          return [{ id, workspaceId, platform, status, externalId, username }];
        }),
      }),
      requireReconnect: ({ ref }) => {
        this.reconnects.push(ref?.accountId ?? "");
        return {};
      },
    });
  };

  #credential(ref: { readonly workspaceId: string; readonly accountId: string }) {
    const account = this.accounts.get(ref.accountId);
    const { workspaceId, accountId } = ref;
    if (account?.workspaceId !== workspaceId)
      return { ref: { workspaceId, accountId }, accountStatus: "unknown" };
    const { status, externalId, username, token, version } = account;
    return {
      ref: { workspaceId, accountId },
      accountStatus: status,
      externalId,
      username,
      accessToken: status === "active" ? token : "",
      version: BigInt(version),
    };
  }

  make(commentId: string): string {
    const id = `made-${this.visible.length + 1}`;
    this.visible.push({ commentId, id });
    return id;
  }

  async #react(call: SentCall, guard: SendGuard): Promise<Outcome | Hidden> {
    if (!guard.mayStillSend()) return { kind: "not_sent" };
    this.calls.push(call);
    const reaction = this.reactions.shift();
    if (reaction !== undefined) return await reaction(() => this.make(call.commentId), guard);
    return { kind: "published", externalId: this.make(call.commentId), permalink: null };
  }

  async #look(commentId: string, call: LookedFor): Promise<Verdict> {
    this.looks.push(call);
    const verdict = this.verdicts.shift();
    if (verdict !== undefined) return await verdict();
    const ids = this.visible.filter((each) => each.commentId === commentId).map(({ id }) => id);
    const owned = (await call.isOwned?.(ids)) ?? new Set();
    const found = ids.find((id) => !owned.has(id));
    if (found === undefined) return { kind: "absent" };
    return { kind: "present", externalId: found, permalink: null };
  }

  comments(
    platform: PlatformId = "instagram",
    actions: readonly ("reply" | "hide" | "unhide")[] = ["reply", "hide", "unhide"],
  ): CommentsConnector {
    return {
      platform,
      actions: new Set(actions),
      listComments: async (_account, { mediaId, after }, signal) => {
        this.reads.push({ mediaId, after });
        return await this.page(signal);
      },
      readComment: () => Promise.resolve(this.readComment()),
      reply: async (account, { commentId, requestId }: ReplyRequest, guard) => {
        const call = { kind: "reply", commentId, requestId, token: account.accessToken } as const;
        return (await this.#react(call, guard)) as Outcome;
      },
      reconcileReply: (_account, { commentId }, call) => this.#look(commentId, call),
      setHidden: async (account, { commentId, hidden }) => {
        const kind = hidden ? "hide" : "unhide";
        const guard = { mayStillSend: () => true, timeoutMs: 1_000 };
        const result = await this.#react({ kind, commentId, token: account.accessToken }, guard);
        return result.kind === "published" ? { kind: "done" } : (result as Hidden);
      },
    };
  }

  privateReplies(platform: PlatformId = "instagram"): PrivateRepliesConnector {
    const media = { kind: "media", media: [], next: undefined } as const;
    return {
      platform,
      windowMs: 7 * 24 * 3_600_000,
      pollBudget: { scope: "account", calls: 1_000, windowMs: 1_000, unitsPerPage: 1 },
      maxBytes: 1_000,
      listMedia: () => Promise.resolve(media),
      readMedia: () => Promise.resolve(media),
      send: async (account, { commentId }: PrivateReplyRequest, guard) => {
        const kind = "private_reply";
        const call = { kind, commentId, token: account.accessToken } as const;
        return (await this.#react(call, guard)) as Outcome;
      },
      reconcile: (_account, { commentId }, call) => this.#look(commentId, call),
    };
  }

  connectors(): Pick<EngagementConnectors, "comments" | "privateReplies"> {
    return {
      comments: { instagram: this.comments() },
      privateReplies: { instagram: this.privateReplies() },
    };
  }

  clients() {
    const peer = createTestPeer(this.routes);
    return {
      credentials: peer.client(CredentialService),
      accounts: peer.client(AccountService),
    };
  }
}

/**
 * Deletes all comment actions and their events, forgets restores, and returns a new scripted
 * platform.
 */
export async function emptyWorld({ sql, migrationSql }: TestDatabase): Promise<CommentWorld> {
  await migrationSql`truncate comment_actions, comment_action_queues, outbox`;
  await sql`update deployment set restored_at = null`;
  return new CommentWorld();
}

export interface ActionWorkerOptions {
  readonly settings?: Partial<EngagementSettings>;
  readonly clocks?: Clocks;
  readonly connectors?: ClaimActionsOptions["connectors"];
  readonly deploymentId?: string;
  readonly finishRuns?: FinishRuns;
  readonly wrapSql?: (sql: Sql) => Sql;
}

/** A worker in the test process that stands for a separate process. */
export interface ActionWorker extends AsyncDisposable {
  readonly claims: ActionClaims;
  /** Crashes the worker: from now on it writes nothing to the database. */
  crash(): Promise<void>;
}

/** Starts a worker of comment actions with a database connection pool of its own. */
export function startActionWorker(
  database: Pick<TestDatabase, "sql" | "url">,
  world: CommentWorld,
  options: ActionWorkerOptions = {},
): ActionWorker {
  const pool = openSql({ url: database.url, poolSize: 4, applicationName: "test-actions" });
  const sql = options.wrapSql?.(pool) ?? pool;
  const finishRuns: FinishRuns = (_tx, ended) => {
    world.ended.push(...ended);
    return Promise.resolve();
  };
  const deploymentId = options.deploymentId ?? DEPLOYMENT;
  const claims = startClaimCommentActions({
    sql,
    logger,
    accounts: world.clients(),
    settings: { ...SETTINGS, ...options.settings },
    connectors: options.connectors ?? world.connectors(),
    clocks: options.clocks ?? STILL_CLOCKS,
    random: Math.random,
    onEvents: () => undefined,
    guard: createPublishingGuard({ sql, logger, deploymentId }),
    owner: newId(),
    finishRuns: options.finishRuns ?? finishRuns,
  });
  const forget = addNudge(database.sql, claims.nudge);
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
      isDead = true;
      forget();
      await claims[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
    },
  };
}

/** Stores a comment action that a user requested, and returns its id. */
export async function request(
  sql: Sql,
  account: Pick<TestAccount, "id" | "workspaceId" | "platform">,
  given: Partial<NewManualAction> = {},
): Promise<string> {
  const { id: accountId, workspaceId, platform } = account;
  const type = given.type ?? "reply";
  const action = {
    id: newId(),
    workspaceId,
    accountId,
    platform,
    mediaId: "media-1",
    commentId: "comment-1",
    text: type === "reply" ? "Thanks!" : null,
    ...given,
    type,
  };
  await sql.begin((tx) => insertManualAction(tx, action));
  nudgeWorkers(sql);
  return action.id;
}

/**
 * Stores an active automation rule of the account, enables the sending of private replies if it is
 * blocked, and returns the id of the rule.
 */
export async function addRule(
  sql: Sql,
  { id, workspaceId, platform }: Pick<TestAccount, "id" | "workspaceId" | "platform">,
): Promise<string> {
  const ruleId = newId();
  await sql`
    insert into automation_sending (enabled_at)
    values (now() - interval '1 day')
    on conflict do nothing`;
  await sql`
    insert into automation_rules (
      id, workspace_id, account_id, platform, name, keywords, match, exclude_keywords, message, status, activated_at,
      created_at, updated_at
    )
    values (
      ${ruleId}, ${workspaceId}, ${id}, ${platform}, 'prices', '{price}', 'any', '{}', 'Here', 'active',
      now() - interval '1 day', now(), now()
    )`;
  return ruleId;
}

/**
 * Stores a private reply of an active automation rule; returns its id, or undefined if its comment
 * has one already.
 */
export async function requestPrivateReply(
  sql: Sql,
  account: Pick<TestAccount, "id" | "workspaceId" | "platform">,
  given: Partial<NewPrivateReply> = {},
): Promise<string | undefined> {
  const { id: accountId, workspaceId, platform } = account;
  const reply = {
    id: newId(),
    workspaceId,
    accountId,
    platform,
    mediaId: "media-1",
    commentId: "comment-1",
    text: "Here is the price list",
    ruleId: given.ruleId ?? (await addRule(sql, account)),
    runId: newId(),
    sendBefore: new Date(Date.now() + 3_600_000),
    ...given,
  };
  const stored = await sql.begin((tx) => insertPrivateReplies(tx, [reply]));
  nudgeWorkers(sql);
  return stored.has(reply.id) ? reply.id : undefined;
}

export interface StoredAction {
  readonly id: string;
  readonly status: string;
  readonly errorCode: string | null;
  readonly externalId: string | null;
  readonly callNumber: number;
}

export async function readActions(sql: Sql): Promise<readonly StoredAction[]> {
  return await sql<StoredAction[]>`
    select id, status, error_code, external_id, call_number
    from comment_actions
    order by id`;
}

/** Waits until no comment action of the database is open, and returns all of them. */
export async function untilAllEnded(
  sql: Sql,
  options: { readonly timeoutMs?: number } = {},
): Promise<readonly StoredAction[]> {
  await eventually(async () => {
    const actions = await readActions(sql);
    return actions.every(({ status }) => status === "succeeded" || status === "failed");
  }, options);
  return await readActions(sql);
}

/** Waits until a comment action has this status. */
export async function untilStatus(sql: Sql, id: string, status: string): Promise<void> {
  await eventually(async () =>
    (await readActions(sql)).some((action) => action.id === id && action.status === status),
  );
}
