import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { text } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { callGraph } from "./calls.ts";

/** How long the outcome of a published post waits for its link. */
const READ_TIMEOUT_MS = 5000;
const SITE = "https://www.facebook.com";

/** A link that leads to the post (platforms reference 3.1), for when Facebook's own link cannot be read. */
function derivePermalink(id: string): string {
  return id.includes("_") ? `${SITE}/${id}` : `${SITE}/reel/${id}`;
}

/** The link in `permalink_url`, which is a path for videos. */
export function toPermalink(id: string, permalinkUrl: string | undefined): string {
  if (permalinkUrl === undefined) return derivePermalink(id);
  return permalinkUrl.startsWith("/") ? `${SITE}${permalinkUrl}` : permalinkUrl;
}

/** Reads the link of a published post. A failure does not change that the post is published. */
export async function readPermalink(
  api: GraphApi,
  account: AccountAccess,
  id: string,
): Promise<string> {
  const query = { fields: "permalink_url" };
  const call = { method: "GET", path: encodeURIComponent(id), query } as const;
  const answer = await callGraph(api, account, call, AbortSignal.timeout(READ_TIMEOUT_MS));
  const isRead = answer.kind === "answer" && answer.status === 200;
  return toPermalink(id, isRead ? text(answer.json, "permalink_url") : undefined);
}
