import { answering, type Call, type Moment, type Reply } from "#src/http/call.ts";
import { OAuthTokens } from "#src/oauth/tokens.ts";
import type { Endpoint } from "#src/platform.ts";
import type { Store } from "#src/store/store.ts";
import type { Account, Accounts } from "#src/world/accounts.ts";
import { DAY_MS, type LimitRule, type Spending } from "#src/world/limits.ts";
import type { Post, Posts } from "#src/world/posts.ts";
import type { SettingValues } from "#src/world/settings.ts";
import type { World } from "#src/world/world.ts";
import { invalidRequest, SCOPE_MISSING, statusProblem, USAGE_CAPPED } from "#src/x/errors.ts";
import { MediaStore } from "#src/x/media.ts";

/**
 * How long the simulated X refuses a tweet with the content of an earlier tweet. X does not
 * document this time. A day is longer than any client repeats a failed call.
 */
const DUPLICATE_WINDOW_MS = 86_400_000;

type Content = Pick<Post, "text" | "media" | "replyTo">;

class TweetIndex {
  readonly #posts: Posts;
  readonly #accounts: Accounts;
  readonly #authors = new Map<string, string>();
  readonly #latestOfContent = new Map<string, string>();

  constructor(posts: Posts, accounts: Accounts, store: Store) {
    this.#posts = posts;
    this.#accounts = accounts;
    for (const post of posts.all()) if (post.platform === "x") this.remember(post);
    store.onReset(() => {
      this.#authors.clear();
      this.#latestOfContent.clear();
    });
  }

  remember(post: Post): void {
    this.#authors.set(post.id, post.account);
    this.#latestOfContent.set(contentKey(post.account, post), post.id);
  }

  find(id: string): Post | undefined {
    const author = this.#accounts.byId("x", this.#authors.get(id) ?? "");
    return author === undefined ? undefined : this.#posts.get(author, id);
  }

  hasDuplicate(account: Account, content: Content, now: number): boolean {
    const id = this.#latestOfContent.get(contentKey(account.externalId, content));
    const post = id === undefined ? undefined : this.#posts.get(account, id);
    return (
      post !== undefined && post.deletedAt === null && now - post.createdAt < DUPLICATE_WINDOW_MS
    );
  }
}

function contentKey(account: string, content: Content): string {
  const media = content.media.map((item) => item.sha256).join(",");
  return [account, content.replyTo ?? "", media, content.text.normalize("NFC").trim()].join("\n");
}

export type XNetwork = ReturnType<typeof createNetwork>;

export function createNetwork(world: World) {
  const { store } = world;
  return {
    world,
    tokens: new OAuthTokens(world, "x", {
      codeLifetimeMs: 30_000,
      accessPrefix: "",
      refreshPrefix: "",
      characters: 91,
      accessLifetimeMs: 7_200_000,
      refreshLifetimeMs: null,
      rotates: true,
      revokes: "authorization",
    }),
    tweets: new TweetIndex(world.posts, world.accounts, store),
    media: new MediaStore(store),
    /** Whether an account has hidden a comment, by the comment's id. */
    hidden: store.table<boolean>("x.hidden"),
  };
}

export interface XCall extends Moment {
  readonly call: Call;
  readonly account: Account;
}

export interface XEndpoint extends Endpoint<XNetwork, XCall> {
  readonly scope?: string;
  readonly bucket: string;
  /** Calls of one user in 15 minutes. */
  readonly perUser: number;
  readonly isLimitedDaily?: boolean;
}

const QUARTER_HOUR_MS = 900_000;
/** In the order of the rules of `rulesOf`. */
const HEADERS = ["x-rate-limit", "x-user-limit-24hour", "x-app-limit-24hour"];

function rulesOf(
  { bucket, perUser, isLimitedDaily = false }: XEndpoint,
  account: Account,
  { xUserPostsPerDay, xAppPostsPerDay }: SettingValues,
): LimitRule[] {
  const key = `x:${bucket}:${account.externalId}`;
  const window: LimitRule = { key, limit: perUser, windowMs: QUARTER_HOUR_MS };
  if (!isLimitedDaily) return [window];
  return [
    window,
    { key: `${key}:day`, limit: xUserPostsPerDay, windowMs: DAY_MS },
    { key: `x:${bucket}:app`, limit: xAppPostsPerDay, windowMs: DAY_MS },
  ];
}

function rateHeaders({ standings }: Spending): Record<string, string> {
  return Object.fromEntries(
    standings.flatMap(({ limit, remaining, resetAt }, index) => {
      const prefix = HEADERS[index] ?? "";
      return [
        [`${prefix}-limit`, String(limit)],
        [`${prefix}-remaining`, String(remaining)],
        [`${prefix}-reset`, String(Math.ceil(resetAt / 1000))],
      ];
    }),
  );
}

/** The answer to every call of every user while the settings ask for it. */
function refuseEveryone(
  { query }: Call,
  { xFieldNames, xUsageCap }: SettingValues,
): Reply | undefined {
  if (xUsageCap === "reached") return USAGE_CAPPED;
  const fields = xFieldNames === "new" ? query.get("tweet.fields") : null;
  const message = "The query parameter [tweet.fields] is not one of [post.fields,expansions]";
  return fields === null ? undefined : invalidRequest({ "tweet.fields": [fields] }, message);
}

export function serve(network: XNetwork, endpoint: XEndpoint, call: Call, moment: Moment): Reply {
  const { values } = network.world.settings;
  const refusal = refuseEveryone(call, values);
  if (refusal !== undefined) return refusal;
  const access = network.tokens.accessOf(call, moment.now);
  if (access === undefined) return statusProblem(401);
  const { account, scopes } = access;
  if (endpoint.scope !== undefined && !scopes.includes(endpoint.scope)) return SCOPE_MISSING;
  const rules = rulesOf(endpoint, account, values);
  const spending = network.world.limits.spend(rules, moment.now);
  const reply = spending.allowed
    ? answering(() => endpoint.handle(network, { call, account, ...moment }))
    : statusProblem(429);
  return { ...reply, headers: { ...reply.headers, ...rateHeaders(spending) } };
}
