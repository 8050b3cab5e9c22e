import { callGraph } from "#src/graph-api/call-graph.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { text } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

const READ_TIMEOUT_MS = 5000;
const SITE = "https://www.facebook.com";

function derivePermalink(id: string): string {
  return id.includes("_") ? `${SITE}/${id}` : `${SITE}/reel/${id}`;
}

export function toPermalink(id: string, permalinkUrl: string | undefined): string {
  if (permalinkUrl === undefined) return derivePermalink(id);
  return permalinkUrl.startsWith("/") ? `${SITE}${permalinkUrl}` : permalinkUrl;
}

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
