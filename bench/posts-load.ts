import type { LocalStack } from "@postrider/local/local-file";
import type { Load } from "./measure.ts";
import { call } from "./system.ts";

/**
 * The platforms on which the benchmarks publish text posts. They do not change, so that results of different days can
 * be compared.
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

function pidsOf({ services: { gateway, accounts, posts, delivery } }: LocalStack) {
  const pidOf = ([first]: typeof gateway): number => first?.pid ?? 0;
  return {
    gateway: pidOf(gateway),
    accounts: pidOf(accounts),
    posts: pidOf(posts),
    delivery: pidOf(delivery),
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

/** Creates of different posts on one account. Publishing on its platform must be paused, so that nothing else runs. */
export function createLoad(local: LocalStack, accountId: string): PostsLoad {
  return {
    name: "`POST /posts`, publishing paused",
    method: "POST",
    url: `${local.baseUrl}/api/v1/posts`,
    headers: { authorization: `Bearer ${local.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      content: "A post {number} of ordinary length, as users write it.",
      accountIds: [accountId],
    }),
    pids: pidsOf(local),
  };
}
