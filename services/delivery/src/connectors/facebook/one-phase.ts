import { idIn, pagePath } from "#src/connectors/facebook/context.ts";
import { MEANINGS } from "#src/connectors/facebook/meanings.ts";
import { readPermalink } from "#src/connectors/facebook/permalink.ts";
import { photoIds, toPostFields } from "#src/connectors/facebook/post-steps.ts";
import { toVisibleFailure } from "#src/connectors/graph/failures.ts";
import { toGraphRequest, type GraphApi } from "#src/connectors/graph/graph-call.ts";
import { formBody } from "#src/connectors/request-body.ts";
import { sendOnce, toUnanswered } from "#src/connectors/send-once.ts";
import type { Handles, Outcome, Publication, SendGuard } from "#src/domain/connector.ts";

/** Makes a post visible with the call that makes it: it has no key, and its id comes with the answer alone. */
export async function publishAtOnce(
  api: GraphApi,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  if (photoIds(publication, handles).length < publication.media.length)
    return { kind: "retryable", code: "internal_error", message: "the photos are not uploaded" };
  const body = formBody({ ...toPostFields(publication, handles), published: "true" });
  const call = { method: "POST", path: pagePath(publication, "feed"), body } as const;
  const sent = await sendOnce(toGraphRequest(api, publication, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = idIn(sent);
  if (id === undefined) return toVisibleFailure(sent, MEANINGS);
  return {
    kind: "published",
    externalId: id,
    permalink: await readPermalink(api, publication, id),
  };
}
