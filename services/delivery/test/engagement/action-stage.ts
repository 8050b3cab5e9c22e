import type { CommentsConnector } from "@postrider/platforms/comments/connector";
import { PROCESS_CLOCKS } from "@postrider/platforms/http/send-once";
import type { PlatformId } from "@postrider/platforms/platform-id";
import { createConnectors } from "@postrider/platforms/platforms";
import type { PrivateRepliesConnector } from "@postrider/platforms/private-replies/connector";
import type { Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { KINDS } from "../publishing/fault-matrix/cases.ts";
import { CALL_MS, SCALE, type Rule } from "../publishing/fault-matrix/faults.ts";
import { openMatrixDatabase, Stage, startMatrixWorker } from "../publishing/fault-matrix/stage.ts";
import { request as requestPosts } from "../publishing/fixture.ts";
import {
  CommentWorld,
  request,
  requestPrivateReply,
  startActionWorker,
  type ActionWorker,
  type ActionWorkerOptions,
  type TestAccount,
} from "./fixture.ts";

export type MatrixType = "reply" | "hide" | "private_reply";

/** One kind of comment action on one platform. */
export interface ActionKind {
  readonly platform: PlatformId;
  readonly type: MatrixType;
  /** Name of the platform call in the fault rules of the simulator. */
  readonly operation: string;
}

export const ACTION_KINDS: readonly ActionKind[] = [
  ...(["instagram", "facebook", "x", "youtube", "bluesky"] as const).map((platform) => ({
    platform,
    type: "reply" as const,
    operation: "reply",
  })),
  ...(["instagram", "facebook"] as const).map((platform) => ({
    platform,
    type: "private_reply" as const,
    operation: "reply",
  })),
  { platform: "youtube", type: "hide", operation: "hide" },
  { platform: "bluesky", type: "hide", operation: "hide" },
];

/** A comment action, on an account that only this action uses. */
export interface ActionRound {
  readonly kind: ActionKind;
  readonly fault: string;
  readonly account: TestAccount;
  readonly mediaId: string;
  readonly commentId: string;
  readonly text: string;
  id: string;
}

interface ShownComment {
  readonly id: string;
  readonly mediaId: string;
  readonly text: string;
}

/** The simulated platforms with posts, comments and the accounts that own them. */
export class ActionStage implements AsyncDisposable {
  readonly world = new CommentWorld();
  readonly stage: Stage;
  readonly #posts: TestDatabase;
  #count = 0;

  private constructor(stage: Stage, posts: TestDatabase) {
    this.stage = stage;
    this.#posts = posts;
  }

  static async open(): Promise<ActionStage> {
    return new ActionStage(await Stage.open(), await openMatrixDatabase());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
    await this.#posts[Symbol.asyncDispose]();
  }

  /** Publishes a post for each given comment action, and lets a reader comment on each post. */
  async addRounds(
    cells: readonly { readonly kind: ActionKind; readonly fault: string }[],
  ): Promise<readonly ActionRound[]> {
    const { sql } = this.#posts;
    await using _worker = startMatrixWorker(this.stage, this.#posts);
    const posts: Awaited<ReturnType<ActionStage["addPost"]>>[] = [];
    for (const { kind } of cells) posts.push(await this.addPost(kind.platform));
    const targets = posts.map(({ target }) => target);
    await requestPosts(sql, ...targets);
    const published = await untilPublished(
      sql,
      targets.map(({ targetId }) => targetId),
    );
    return await Promise.all(
      cells.map(async (cell, index) => {
        const target = posts[index]?.target;
        const mediaId = published.get(target?.targetId ?? "");
        if (target === undefined || mediaId === undefined) throw new Error("not published");
        const { accountId: id, workspaceId, platform } = target;
        const { externalId, username, token } = this.stage.world.account(target);
        const issued = { externalId, username, token };
        const account = this.world.addAccount({ id, workspaceId, platform, ...issued });
        return await this.#addComment(cell, account, mediaId);
      }),
    );
  }

  private async addPost(platform: PlatformId) {
    const kind = KINDS.find((each) => each.platform === platform);
    const step = kind?.steps.at(-1);
    if (kind === undefined || step === undefined) throw new Error("no such kind of post");
    const [round] = await this.stage.addRounds(
      { kind, step },
      { name: "none", by: "simulator" },
      1,
    );
    if (round === undefined) throw new Error("no round");
    return round;
  }

  async #addComment(
    { kind, fault }: { readonly kind: ActionKind; readonly fault: string },
    account: TestAccount,
    mediaId: string,
  ): Promise<ActionRound> {
    this.#count += 1;
    const { platform, externalId, username } = account;
    const { id: commentId } = await this.stage.control<{ id: string }>("POST", "comments", {
      platform,
      account: externalId,
      mediaId,
      author: "eve",
      text: `How much is it, @${username}?`,
    });
    const text = `Thanks for asking, number ${this.#count}!`;
    return { kind, fault, account, mediaId, commentId, text, id: "" };
  }

  async addRules(
    { kind: { platform, operation }, account }: ActionRound,
    rules: readonly Omit<Rule, "platform" | "operation">[],
  ): Promise<void> {
    for (const rule of rules)
      await this.stage.control("POST", "faults", {
        platform,
        ...(rule.mode === "stale_reads" ? {} : { operation }),
        ...rule,
        account: account.externalId,
      });
  }

  /** Stores the comment action of a round of the fault matrix (one action on one comment). */
  async request(sql: Sql, round: ActionRound): Promise<void> {
    const { account, mediaId, commentId, text, kind } = round;
    const ids = { mediaId, commentId };
    const id =
      kind.type === "private_reply"
        ? await requestPrivateReply(sql, account, { ...ids, text })
        : await request(sql, account, {
            ...ids,
            type: kind.type,
            text: kind.type === "reply" ? text : null,
          });
    round.id = id ?? "";
  }

  /**
   * Counts how often the comment action of a round of the fault matrix took effect on the platform.
   */
  async countEffects({ kind, account, mediaId, commentId, text }: ActionRound): Promise<number> {
    const { platform } = kind;
    const query = `platform=${platform}&account=${account.externalId}`;
    if (kind.type === "private_reply") {
      const sent = await this.stage.control<{ commentId: string }[]>(
        "GET",
        `private-replies?${query}`,
      );
      return sent.filter((reply) => reply.commentId === commentId).length;
    }
    if (kind.type === "hide") return (await this.#isHidden(account, mediaId, commentId)) ? 1 : 0;
    if (platform === "youtube") return await this.#countYoutubeReplies(account, commentId, text);
    const shown =
      platform === "x" || platform === "bluesky"
        ? await this.stage.control<ShownComment[]>("GET", `visible?${query}`)
        : await this.stage.control<ShownComment[]>("GET", `comments?${query}`);
    return shown.filter((each) => each.text === text).length;
  }

  async #isHidden(account: TestAccount, mediaId: string, commentId: string): Promise<boolean> {
    const connector = createConnectors("comments", this.stage.config)[account.platform];
    const { externalId, username, token: accessToken } = account;
    const access = { externalId, username, accessToken, attributes: {} };
    const signal = AbortSignal.timeout(10_000);
    // YouTube does not return a hidden comment when it is requested by its id.
    const query = { mediaId, limit: 50, after: undefined };
    const page = await connector?.listComments(access, query, signal);
    if (page?.kind !== "page") throw new Error(`the comments were not read: ${page?.kind}`);
    return page.comments.some(({ id, hidden }) => id === commentId && hidden === true);
  }

  async #countYoutubeReplies(
    { token }: TestAccount,
    commentId: string,
    text: string,
  ): Promise<number> {
    const path = `/youtube/v3/comments?part=snippet&maxResults=100&parentId=${commentId}`;
    const answer = await fetch(`${this.stage.config.youtube.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { items } = (await answer.json()) as {
      items: readonly { readonly snippet: { readonly textOriginal: string } }[];
    };
    return items.filter(({ snippet }) => snippet.textOriginal === text).length;
  }

  /** Waits until all calls that the simulated platforms delay have taken effect. */
  async untilArrived(): Promise<void> {
    await eventually(async () => {
      const log = await this.stage.control<{ outcome: string }[]>("GET", "requests");
      return log.every(({ outcome }) => outcome !== "pending");
    });
  }

  /** Starts a worker whose calls go to the simulated platforms. */
  startWorker(
    database: Pick<TestDatabase, "sql" | "url">,
    options: ActionWorkerOptions & {
      readonly wrap?: (connector: CommentsConnector) => CommentsConnector;
      readonly wrapPrivate?: (connector: PrivateRepliesConnector) => PrivateRepliesConnector;
    } = {},
  ): ActionWorker {
    const { wrap = (each) => each, wrapPrivate = (each) => each, ...others } = options;
    const { config } = this.stage;
    // More replies are sent at once than the budgets of the apps allow.
    const comments = Object.values(createConnectors("comments", config)).map(
      ({ costs: _costs, ...connector }) =>
        [connector.platform, shortened(wrap(connector), "reply")] as const,
    );
    const privateReplies = Object.values(createConnectors("privateReplies", config)).map(
      (connector) => [connector.platform, shortened(wrapPrivate(connector), "send")] as const,
    );
    return startActionWorker(database, this.world, {
      connectors: {
        comments: Object.fromEntries(comments),
        privateReplies: Object.fromEntries(privateReplies),
      },
      clocks: PROCESS_CLOCKS,
      ...others,
      settings: {
        visibleCallMs: CALL_MS,
        leaseMs: 2_000,
        retryMs: [200, 400, 800, 1_600, 3_200],
        reconcileTimeScale: SCALE,
        ...others.settings,
      },
    });
  }
}

/** Waits until targets are published, and returns the ids of their posts on the platforms. */
async function untilPublished(
  sql: Sql,
  targetIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return await eventually(async () => {
    const rows = await sql<{ targetId: string; externalId: string }[]>`
      select target_id, external_id
      from publish_tasks
      where status = 'published'
      and target_id in ${sql(targetIds)}`;
    return (
      rows.length === targetIds.length &&
      new Map(rows.map(({ targetId, externalId }) => [targetId, externalId]))
    );
  });
}

interface Waits {
  readonly kind: string;
  readonly retryAfterMs?: number;
  readonly limitedForMs?: number;
  readonly isLimit?: boolean;
}

/**
 * Wraps a connector: when the platform's answer to one of its calls requests a wait, the wait
 * becomes half a second.
 */
function shortened<T extends object>(connector: T, name: keyof T): T {
  const call = connector[name] as (...args: unknown[]) => Promise<Waits>;
  const short = async (...args: unknown[]): Promise<Waits> => {
    const outcome = await call.apply(connector, args);
    const isLong = outcome.limitedForMs !== undefined || outcome.isLimit === true;
    if (!isLong) return outcome;
    const name = outcome.kind === "unknown" ? "limitedForMs" : "retryAfterMs";
    return { ...outcome, [name]: 500 };
  };
  return { ...connector, [name]: short };
}
