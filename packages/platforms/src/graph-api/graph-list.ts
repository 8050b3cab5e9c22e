import type { NoAnswer } from "#src/http/call-platform.ts";
import {
  list,
  maxListBytes,
  object,
  type PlatformAnswer,
  text,
} from "#src/http/platform-answer.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { MAX_COMMENT_LENGTH } from "./graph-request.ts";

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

export function nextOf({ json }: PlatformAnswer): string | undefined {
  const paging = object(json, "paging");
  return text(paging, "next") === undefined ? undefined : text(object(paging, "cursors"), "after");
}
