import { toGraphRequest, type GraphApi } from "#src/graph/graph-call.ts";
import { callPlatform } from "#src/http/http.ts";
import { list, object } from "#src/http/platform-answer.ts";
import type { Handles, PrepareStep, Publication, StepResult } from "#src/publishing/connector.ts";
import { toInstagramFailure, toQuotaFailure } from "./meanings.ts";

const NAME = "limitReadAt";
/** What was read is good for so long. */
const FRESH_MS = 5 * 60_000;

/** How many posts the account has made in the current window, and may make. */
interface PublishingLimit {
  readonly used: number;
  readonly total: number;
}

function toLimit(json: unknown): PublishingLimit | undefined {
  const [entry] = list(json, "data");
  const used = (entry as { quota_usage?: unknown } | undefined)?.quota_usage;
  const total = object(entry, "config")?.quota_total;
  return typeof used === "number" && typeof total === "number" ? { used, total } : undefined;
}

/**
 * `GET /{account}/content_publishing_limit` (platforms reference 1.2). Only a limit that is reached, a token or a
 * permission that is refused stop the post: a read that fails proves nothing, and the visible call would be refused.
 */
async function readLimit(
  api: GraphApi,
  publication: Publication,
  signal: AbortSignal,
): Promise<StepResult> {
  const path = `${encodeURIComponent(publication.externalId)}/content_publishing_limit`;
  const call = { method: "GET", path, query: { fields: "quota_usage,config" } } as const;
  const answer = await callPlatform(toGraphRequest(api, publication, call), signal);
  const read: Handles = { [NAME]: String(Date.now()) };
  if (answer.kind === "no_answer") return read;
  if (answer.status !== 200) {
    const failure = toInstagramFailure(answer);
    return failure.kind === "retryable" && failure.isLimit !== true ? read : failure;
  }
  const limit = toLimit(answer.json);
  if (limit === undefined || limit.used < limit.total) return read;
  return toQuotaFailure(
    `${limit.used} of ${limit.total} posts were published in the last 24 hours`,
  );
}

/** Asks whether the account may publish at all, before anything is made for it. */
export function createLimitStep(api: GraphApi): PrepareStep {
  return {
    name: "publishing limit",
    isDone: (handles) => Date.now() - Number(handles[NAME] ?? 0) < FRESH_MS,
    run: (publication, _handles, signal) => readLimit(api, publication, signal),
  };
}
