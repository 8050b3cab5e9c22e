import type { EnvReader } from "@postrider/shared/config";
import type { NoAnswer } from "#src/http/call-platform.ts";
import {
  list,
  maxListBytes,
  object,
  type PlatformAnswer,
  text,
} from "#src/http/platform-answer.ts";
import { ask, type Caller, type Site } from "#src/publishing/caller.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export interface GraphApi {
  readonly baseUrl: string;
  readonly version: string;
  /** A token is never sent to an upload URL on another host. */
  readonly uploadBaseUrl: string;
}

/** Calls the Graph API for an account. */
export interface GraphCaller extends Caller {
  readonly uploadBaseUrl: string;
}

/** Limit of Facebook; a comment on Instagram has at most 2,200 characters. */
export const MAX_COMMENT_LENGTH = 8_000;

export function toGraphSite({ baseUrl, version }: GraphApi, account: AccountAccess): Site {
  return { baseUrl: `${baseUrl}/${version}`, account };
}

export function openGraph(api: GraphApi, account: AccountAccess, signal: AbortSignal): GraphCaller {
  return { ...toGraphSite(api, account), uploadBaseUrl: api.uploadBaseUrl, signal };
}

export function edgeOf({ externalId }: AccountAccess, edge: string): string {
  return `${encodeURIComponent(externalId)}/${edge}`;
}

export function readGraphVersion(read: EnvReader) {
  const version = read
    .about("Version of Meta's Graph API, for Facebook and Instagram.", { level: "advanced" })
    .string("GRAPH_API_VERSION", { default: "v25.0" });
  return { version, dialog: `/${version}/dialog/oauth` };
}

export interface GraphList {
  readonly kind: "list";
  readonly entries: readonly unknown[];
  readonly next: string | null | undefined;
}

export interface ListCall {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly after: string | undefined;
}

export async function readGraphList(
  graph: Caller,
  { path, query, limit, after }: ListCall,
): Promise<GraphList | PlatformAnswer | NoAnswer> {
  const answer = await ask(graph, {
    path,
    query: { ...query, limit: String(limit), after },
    maxAnswerBytes: maxListBytes(limit, MAX_COMMENT_LENGTH),
  });
  if (answer.kind === "no_answer") return answer;
  if (answer.status !== 200 || !Array.isArray(answer.json?.data)) return answer;
  return { kind: "list", entries: list(answer.json, "data"), next: nextOf(answer) };
}

/**
 * Undefined on the last page of a list. Null when a next page exists and has no cursor: a page that
 * begins at a time or an offset can leave out entries, so reading on would prove nothing.
 */
export function nextOf({ json }: PlatformAnswer): string | null | undefined {
  const paging = object(json, "paging");
  if (text(paging, "next") === undefined) return undefined;
  return text(object(paging, "cursors"), "after") ?? null;
}
