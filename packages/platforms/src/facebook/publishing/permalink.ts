import { callGraph } from "#src/graph-api/call-graph.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { text } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

/** Maximum time in milliseconds to read the link of a published Facebook post. */
const READ_TIMEOUT_MS = 5000;
const SITE = "https://www.facebook.com";

/**
 * Derives a link to a Facebook post from its id (platforms reference 3.1), for use when Facebook's own link cannot be
 * read.
 */
function derivePermalink(id: string): string {
  return id.includes("_") ? `${SITE}/${id}` : `${SITE}/reel/${id}`;
}

/** Returns the full link to a Facebook post from its `permalink_url`, which is only a path for videos. */
export function toPermalink(id: string, permalinkUrl: string | undefined): string {
  if (permalinkUrl === undefined) return derivePermalink(id);
  return permalinkUrl.startsWith("/") ? `${SITE}${permalinkUrl}` : permalinkUrl;
}

/** Reads the link of a published Facebook post. The post stays published even if reading the link fails. */
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
