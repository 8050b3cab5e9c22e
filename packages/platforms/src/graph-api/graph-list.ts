import type { NoAnswer } from "#src/http/call-platform.ts";
import {
  list,
  maxListBytes,
  object,
  type PlatformAnswer,
  text,
} from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { callGraph, type GraphApi, MAX_COMMENT_LENGTH } from "./graph-request.ts";

export interface GraphList {
  readonly kind: "list";
  readonly entries: readonly unknown[];
  readonly next: string | undefined;
}

export interface ListCall {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly after: string | undefined;
}

export async function readGraphList(
  api: GraphApi,
  account: AccountAccess,
  { path, query, limit, after }: ListCall,
  signal: AbortSignal,
): Promise<GraphList | PlatformAnswer | NoAnswer> {
  const call = {
    method: "GET",
    path,
    query: { ...query, limit: String(limit), after },
    maxAnswerBytes: maxListBytes(limit, MAX_COMMENT_LENGTH),
  } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer") return answer;
  if (answer.status !== 200 || !Array.isArray(answer.json?.data)) return answer;
  const paging = object(answer.json, "paging");
  const isLast = text(paging, "next") === undefined;
  const next = isLast ? undefined : text(object(paging, "cursors"), "after");
  return { kind: "list", entries: list(answer.json, "data"), next };
}
