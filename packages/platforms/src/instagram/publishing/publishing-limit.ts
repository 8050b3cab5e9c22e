import { toGraphRequest, type GraphApi } from "#src/graph-api/graph-request.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { list, number, object } from "#src/http/platform-answer.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { PrepareStep, StepResult } from "#src/publishing/steps.ts";
import { toInstagramFailure, toQuotaFailure } from "./error-meanings.ts";

const NAME = "limitReadAt";
const MAX_AGE_MS = 5 * 60_000;

interface PublishingLimit {
  readonly used: number;
  readonly total: number;
}

function toLimit(json: unknown): PublishingLimit | undefined {
  const [entry] = list(json, "data");
  const used = number(entry, "quota_usage");
  const total = number(object(entry, "config"), "quota_total");
  return used === undefined || total === undefined ? undefined : { used, total };
}

/**
 * Only a reached limit, or a refused token or permission, stops the post: Instagram itself refuses
 * the publishing call at the limit.
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

export function createLimitStep(api: GraphApi): PrepareStep {
  return {
    name: "publishing limit",
    isDone: (handles) => Date.now() - Number(handles[NAME] ?? 0) < MAX_AGE_MS,
    run: (publication, _handles, signal) => readLimit(api, publication, signal),
  };
}
