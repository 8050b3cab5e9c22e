import { toVisibleFailure } from "#src/graph/failures.ts";
import { toGraphRequest, type GraphApi } from "#src/graph/graph-call.ts";
import { formBody } from "#src/http/request-body.ts";
import { sendOnce, toUnanswered } from "#src/http/send-once.ts";
import type { Handles, Outcome, Publication, SendGuard } from "#src/publishing/connector.ts";
import { idIn, pagePath } from "./context.ts";
import { MEANINGS } from "./meanings.ts";
import { readPermalink } from "./permalink.ts";
import { photoIds, toPostFields } from "./post-steps.ts";

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
