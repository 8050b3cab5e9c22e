import type { GraphApi } from "#src/graph/graph-call.ts";
import { text } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/connector.ts";
import { callGraph } from "./context.ts";

/** The post is published; nobody waits longer for its link. */
const LOOK_MS = 5000;
const SITE = "https://www.facebook.com";

/** An address that leads to the post (platforms reference 3.1), for when Facebook's own is not to be had. */
function guessPermalink(id: string): string {
  return id.includes("_") ? `${SITE}/${id}` : `${SITE}/reel/${id}`;
}

/** `permalink_url`, which is a path for videos. */
export function toPermalink(id: string, permalinkUrl: string | undefined): string {
  if (permalinkUrl === undefined) return guessPermalink(id);
  return permalinkUrl.startsWith("/") ? `${SITE}${permalinkUrl}` : permalinkUrl;
}

/** The link to a published post. Whatever goes wrong, the post stays published. */
export async function readPermalink(
  api: GraphApi,
  account: AccountAccess,
  id: string,
): Promise<string> {
  const query = { fields: "permalink_url" };
  const call = { method: "GET", path: encodeURIComponent(id), query } as const;
  const answer = await callGraph(api, account, call, AbortSignal.timeout(LOOK_MS));
  const isRead = answer.kind === "answer" && answer.status === 200;
  return toPermalink(id, isRead ? text(answer.json, "permalink_url") : undefined);
}
