import type { Missing } from "#src/comments/connector.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import type { JsonObject } from "#src/http/platform-answer.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { type Failure, platformUnavailable, type Refusal } from "#src/publishing/outcome.ts";
import { type GraphMeanings, isMissing, toStepFailure } from "./failures.ts";

export type NodeReading = { readonly kind: "node"; readonly node: JsonObject } | Missing | Refusal;

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
  graph: Caller,
  id: string,
  { fields, own }: NodesQuery,
): Promise<NodeReading | Failure | NoAnswer> {
  const answer = await ask(graph, { path: encodeURIComponent(id), query: { fields } });
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
  graph: Caller,
  query: NodesQuery,
): Promise<NodeReadings | Failure | NoAnswer> {
  const { ids, onCall } = query;
  const left = [...new Set(ids)];
  const nodes = new Map<string, NodeReading>();
  let failure: Failure | NoAnswer | undefined;
  const readNext = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined && failure === undefined; id = left.shift()) {
      onCall?.();
      const read = await readOne(graph, id, query);
      if (isOfNode(read)) nodes.set(id, read);
      else failure ??= read;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_CALLS }, readNext));
  const inOrder = ids.flatMap((id) => {
    const reading = nodes.get(id);
    return reading === undefined ? [] : [[id, reading] as const];
  });
  return failure ?? { kind: "nodes", nodes: new Map(inOrder) };
}

/** Those that exist. */
export async function readExisting(
  graph: Caller,
  query: NodesQuery,
): Promise<readonly JsonObject[] | Failure> {
  const read = await readNodes(graph, query);
  if (read.kind === "no_answer") return platformUnavailable(read.message);
  if (read.kind !== "nodes") return read;
  return [...read.nodes.values()].flatMap((each) => (each.kind === "node" ? [each.node] : []));
}
