import type { GraphEndpoint } from "#src/graph/endpoint.ts";
import { refuseGraph } from "#src/graph/errors.ts";

/**
 * `GET /?ids=`: reading several posts, videos or comments with one call ended for all versions on
 * 2026-10-27 (developers.facebook.com, "Introducing Graph API v26", 2026-07-29). The call still
 * counts towards the limit.
 */
export function refuseSeveralNodes(counters: string): GraphEndpoint {
  return {
    method: "GET",
    path: "/",
    operations: ({ query }) => readOperations(query, counters),
    reads: true,
    handle: ({ parameters }) => {
      parameters.checkNames(["ids"]);
      parameters.required("ids");
      const message = "The ids query parameter is deprecated in v26.0+";
      return refuseGraph({ code: 100, message }, 500);
    },
  };
}

export function readOperations(
  query: URLSearchParams,
  counters: string,
): readonly ["metrics" | "status"] {
  const fields = query.get("fields") ?? "";
  return [fields.includes(counters) ? "metrics" : "status"];
}
