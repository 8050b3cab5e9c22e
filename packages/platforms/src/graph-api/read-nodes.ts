import type { Missing } from "#src/comments/connector.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import {
  type JsonObject,
  maxListBytes,
  object,
  type PlatformAnswer,
} from "#src/http/platform-answer.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { callGraph } from "./call-graph.ts";
import { type GraphMeanings, isMissing, toStepFailure } from "./failures.ts";
import { readGraphError } from "./graph-error.ts";
import { type GraphApi, MAX_COMMENT_LENGTH } from "./graph-request.ts";

type Refused = Extract<Failure, { kind: "refused" }>;

/** The Graph API's answer about one of the requested Graph API objects, for example a post. */
export type NodeReading = { readonly kind: "node"; readonly node: JsonObject } | Missing | Refused;

export interface NodesQuery {
  readonly ids: readonly string[];
  /** The parameter `fields` of the Graph API call. */
  readonly fields: string;
  readonly own: GraphMeanings;
  /** Function that is called before each platform call, with the number of ids in the call. */
  readonly onCall?: (ids: number) => void;
}

/** The Graph API objects (for example posts) that were read, by their ids. */
export interface NodeReadings {
  readonly kind: "nodes";
  readonly nodes: ReadonlyMap<string, NodeReading>;
}

/** Graph API error that lists the ids of a request which do not exist. */
const UNKNOWN_ALIASES = 803;

/**
 * Whether the Graph API's error concerns only one of the requested posts or other Graph API objects, so that the rest
 * can be read.
 */
function isAboutOne(answer: PlatformAnswer, failure: Failure): boolean {
  return isUnknown(answer) || isContent(failure);
}

function isContent(failure: NodeReading | Failure): boolean {
  return failure.kind === "refused" && failure.code === "content_rejected";
}

function isUnknown(answer: PlatformAnswer): boolean {
  return isMissing(answer) || readGraphError(answer)?.code === UNKNOWN_ALIASES;
}

async function readOne(
  api: GraphApi,
  account: AccountAccess,
  { id, fields, own }: { id: string; fields: string; own: GraphMeanings },
  signal: AbortSignal,
): Promise<NodeReading | Failure | NoAnswer> {
  const call = { method: "GET", path: encodeURIComponent(id), query: { fields } } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer") return answer;
  if (answer.status === 200 && answer.json !== undefined)
    return { kind: "node", node: answer.json };
  return isUnknown(answer) ? { kind: "missing" } : toStepFailure(answer, own);
}

/** Reads Graph API objects, for example posts, one by one, because the Graph API refused to read them together. */
async function readEach(
  api: GraphApi,
  account: AccountAccess,
  { ids, fields, own, onCall }: NodesQuery,
  signal: AbortSignal,
): Promise<NodeReadings | Failure | NoAnswer> {
  const nodes = new Map<string, NodeReading>();
  for (const id of ids) {
    onCall?.(1);
    const read = await readOne(api, account, { id, fields, own }, signal);
    if (
      read.kind === "node" ||
      read.kind === "missing" ||
      (read.kind === "refused" && isContent(read))
    )
      nodes.set(id, read);
    else return read;
  }
  return { kind: "nodes", nodes };
}

function toReading(json: JsonObject, id: string): readonly [string, NodeReading] {
  const node = object(json, id);
  return [id, node === undefined ? { kind: "missing" } : { kind: "node", node }];
}

/**
 * Reads Graph API objects, for example posts, by their ids with one call (`?ids=`). Each id counts as a call towards
 * Meta's limits (Graph API rate limiting, FAQ "What do we consider an API call?", 2026). One id that cannot be read
 * fails the whole call; the objects are then read one by one, and each gets its own result.
 */
export async function readNodes(
  api: GraphApi,
  account: AccountAccess,
  query: NodesQuery,
  signal: AbortSignal,
): Promise<NodeReadings | Failure | NoAnswer> {
  const { ids, fields, own, onCall } = query;
  if (ids.length < 2) return await readEach(api, account, query, signal);
  const call = {
    method: "GET",
    path: "",
    query: { ids: ids.join(","), fields },
    maxAnswerBytes: maxListBytes(ids.length, MAX_COMMENT_LENGTH),
  } as const;
  onCall?.(ids.length);
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer") return answer;
  if (answer.status === 200) {
    const { json } = answer;
    if (json === undefined) return platformUnavailable("the Graph API's answer is unreadable");
    return { kind: "nodes", nodes: new Map(ids.map((id) => toReading(json, id))) };
  }
  const failure = toStepFailure(answer, own);
  return isAboutOne(answer, failure) ? await readEach(api, account, query, signal) : failure;
}
