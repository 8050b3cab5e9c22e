import type { LocalStack } from "@postrider/local/stack/local-file";
import type { Load } from "./measure.ts";
import { call, type BenchSystem } from "./system.ts";

/**
 * The platforms on which the benchmarks publish text posts. They do not change, so that results of
 * different days can be compared.
 */
const TEXT: readonly string[] = ["x", "telegram", "bluesky"];

type PostsLoad = Omit<Load, "connections" | "seconds">;

/** Publishes a post on three accounts and returns its id once it is published. */
export async function publishOne(local: LocalStack): Promise<string> {
  const content = "A post of ordinary length, as users write it.";
  const accounts = local.accounts.filter(({ platform }) => TEXT.includes(platform));
  const accountIds = accounts.map(({ id }) => id);
  const { id } = await call<{ id: string }>(local, "POST", "/posts", { content, accountIds });
  for (let status = ""; status !== "published";)
    ({ status } = await call<{ status: string }>(local, "GET", `/posts/${id}`));
  return id;
}

function pidsOf({ services: { gateway, accounts, posts, delivery }, postgres }: LocalStack) {
  const pidOf = ([first]: typeof gateway): number => first?.pid ?? 0;
  return {
    gateway: pidOf(gateway),
    accounts: pidOf(accounts),
    posts: pidOf(posts),
    delivery: pidOf(delivery),
    postgres: postgres?.pid ?? 0,
  };
}

/** Reads of one post. */
export function readLoad(local: LocalStack, postId: string): PostsLoad {
  const { gateway, accounts, posts } = pidsOf(local);
  return {
    name: "`GET /posts/{id}`",
    url: `${local.baseUrl}/api/v1/posts/${postId}`,
    headers: { authorization: `Bearer ${local.apiKey}` },
    pids: { gateway, accounts, posts },
  };
}

/** Checks of a short text on an account. */
export function validateLoad(local: LocalStack): PostsLoad {
  const { gateway, accounts, posts } = pidsOf(local);
  const accountIds = local.accounts.filter(({ platform }) => platform === "bluesky");
  return {
    name: "`POST /posts/validate`",
    method: "POST",
    url: `${local.baseUrl}/api/v1/posts/validate`,
    headers: { authorization: `Bearer ${local.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      content: "A post of ordinary length, as users write it.",
      accountIds: accountIds.map(({ id }) => id),
    }),
    pids: { gateway, accounts, posts },
  };
}

/** Reads of a page of 20 posts of the workspace. */
export function pageLoad(local: LocalStack): PostsLoad {
  return { ...readLoad(local, ""), name: "`GET /posts`", url: `${local.baseUrl}/api/v1/posts` };
}

/** A client that creates posts on an account of its workspace. */
export interface Author {
  readonly apiKey: string;
  readonly accountId: string;
}

/** Creates a workspace with an API key and an account, without limits on requests and posts. */
export async function createAuthor(system: BenchSystem, name: string): Promise<Author> {
  const { id } = (await system.operate("workspace", "create", "--name", name, "--verified")) as {
    id: string;
  };
  const limits = ["--requests-per-minute", "100000000", "--monthly-quota", "100000000"];
  await system.operate("workspace", "set-limits", id, ...limits);
  const create = ["key", "create", "--name", name, "--workspace", id, "--scopes", "all"];
  const { key } = (await system.operate(...create)) as { key: string };
  const connect = ["account", "connect", "bluesky", "--workspace", id, "--simulated"];
  const { accounts } = (await system.operate(...connect, "--count", "1")) as {
    accounts: readonly { readonly id: string }[];
  };
  return { apiKey: key, accountId: accounts[0]?.id ?? "" };
}

/**
 * Creates of different posts by authors in turn. Publishing on the platform must be paused, so that
 * nothing else runs.
 */
export function createLoad(local: LocalStack, name: string, authors: readonly Author[]): PostsLoad {
  return {
    name,
    method: "POST",
    url: `${local.baseUrl}/api/v1/posts`,
    turns: authors.map(({ apiKey, accountId }) => ({
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        content: "A post {number} of ordinary length, as users write it.",
        accountIds: [accountId],
      }),
    })),
    pids: pidsOf(local),
  };
}
