import type { Missing } from "#src/comments/connector.ts";
import { type GraphMeanings, isMissing, toStepFailure } from "#src/graph-api/failures.ts";
import { callGraph, type GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import type { JsonObject } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

type Refused = Extract<Failure, { kind: "refused" }>;

export type NodeReading = { readonly kind: "node"; readonly node: JsonObject } | Missing | Refused;

export interface NodesQuery {
  readonly ids: readonly string[];
  readonly fields: string;
  readonly own: GraphMeanings;
  readonly onCall?: () => void;
}

export interface NodeReadings {
  readonly kind: "nodes";
  readonly nodes: ReadonlyMap<string, NodeReading>;
}

/**
 * Number of calls of one reading that run at the same time: 25 posts are read in the time of five
 * calls, and after the refusal of an account at most four further calls are in vain.
 */
const PARALLEL_CALLS = 5;

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
  return isMissing(answer) ? { kind: "missing" } : toStepFailure(answer, own);
}

/** Whether the answer is about one object, so that the other objects can still be read. */
function isOfNode(read: NodeReading | Failure | NoAnswer): read is NodeReading {
  if (read.kind === "refused") return read.code === "content_rejected";
  return read.kind === "node" || read.kind === "missing";
}

/**
 * Reads Graph API objects, for example posts, by their ids, each with a call of its own. Reading
 * several with one call (`?ids=`) ended for all versions on 2026-10-27 (developers.facebook.com,
 * "Introducing Graph API v26", 2026-07-29); each id counted as a call towards Meta's limits before
 * too. The first failure that concerns the whole account is the result, and no call begins after
 * it.
 */
export async function readNodes(
  api: GraphApi,
  account: AccountAccess,
  { ids, fields, own, onCall }: NodesQuery,
  signal: AbortSignal,
): Promise<NodeReadings | Failure | NoAnswer> {
  const left = [...new Set(ids)];
  const nodes = new Map<string, NodeReading>();
  let failure: Failure | NoAnswer | undefined;
  const readNext = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined && failure === undefined; id = left.shift()) {
      onCall?.();
      const read = await readOne(api, account, { id, fields, own }, signal);
      if (isOfNode(read)) nodes.set(id, read);
      else failure ??= read;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CALLS }, readNext));
  return failure ?? { kind: "nodes", nodes: inOrder(ids, nodes) };
}

function inOrder(
  ids: readonly string[],
  nodes: ReadonlyMap<string, NodeReading>,
): ReadonlyMap<string, NodeReading> {
  return new Map(
    ids.flatMap((id) => {
      const reading = nodes.get(id);
      return reading === undefined ? [] : [[id, reading] as const];
    }),
  );
}
