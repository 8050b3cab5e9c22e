import type { GraphCall, GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseParameter } from "#src/graph/errors.ts";
import { idsIn, pickFields } from "#src/graph/parameters.ts";
import type { Reply } from "#src/http/call.ts";

/** Maximum number of ids in one Graph API call. */
const MAX_IDS = 50;

function readAll(
  graphCall: GraphCall,
  viewOf: (graphCall: GraphCall) => Readonly<Record<string, unknown>>,
): Reply {
  const { parameters } = graphCall;
  parameters.checkNames(["ids"]);
  const ids = idsIn(parameters.required("ids"));
  if (ids.length > MAX_IDS) {
    refuseParameter(`Too many IDs. Maximum: ${MAX_IDS}. Provided: ${ids.length}.`);
  }
  const nodes = ids.map((id) => [id, pickFields(parameters, viewOf({ ...graphCall, id }))]);
  return { status: 200, body: Object.fromEntries(nodes) };
}

/**
 * `GET /?ids=`: reads several posts, videos or comments with one call, which counts as one call per id. If one id
 * cannot be read, the whole call fails.
 *
 * @param counters Name of a field that callers request only to read metrics.
 * @param viewOf Returns the post, video or comment whose id is in the path of the call, or refuses the call.
 */
export function readSeveralNodes(
  scope: string,
  counters: string,
  viewOf: (graphCall: GraphCall) => Readonly<Record<string, unknown>>,
): GraphEndpoint {
  return {
    method: "GET",
    path: "/",
    operations: ({ query }) => readOperations(query, counters),
    reads: true,
    scope,
    handle: (graphCall) => readAll(graphCall, viewOf),
  };
}

/**
 * The operation name of a call that reads posts, videos or comments: `metrics` when the call requests the field for
 * metrics, otherwise `status`.
 */
export function readOperations(
  query: URLSearchParams,
  counters: string,
): readonly ["metrics" | "status"] {
  const fields = query.get("fields") ?? "";
  return [fields.includes(counters) ? "metrics" : "status"];
}
