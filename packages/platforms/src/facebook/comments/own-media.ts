import type { CommentRef, Missing } from "#src/comments/connector.ts";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { callGraph } from "#src/graph-api/call-graph.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { toReadFailure } from "#src/graph-api/read-failure.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

const MISSING: Missing = { kind: "missing" };

function numberOf(id: string): string {
  return id.split("_").at(-1) ?? "";
}

/**
 * The id of a post contains the id of its Page. The owner of a video or a photo has to be read,
 * because Facebook shows comments on the media of other Pages too.
 */
export async function checkMedia(
  api: GraphApi,
  account: AccountAccess,
  mediaId: string,
  signal: AbortSignal,
): Promise<Missing | Failure | undefined> {
  const [page, number] = mediaId.split("_");
  if (number !== undefined) return page === account.externalId ? undefined : MISSING;
  const call = {
    method: "GET",
    path: encodeURIComponent(mediaId),
    query: { fields: "from" },
  } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  return text(object(answer.json, "from"), "id") === account.externalId ? undefined : MISSING;
}

/** Comments on a post with one photo may belong to the photo. */
async function readPhotoId(
  api: GraphApi,
  account: AccountAccess,
  mediaId: string,
  signal: AbortSignal,
): Promise<{ readonly photoId: string | undefined } | Missing | Failure> {
  const path = encodeURIComponent(mediaId);
  const query = { fields: "attachments{target}" };
  const answer = await callGraph(api, account, { method: "GET", path, query }, signal);
  if (answer.kind === "no_answer" || answer.status !== 200) return toReadFailure(answer, MEANINGS);
  const [attachment] = list(object(answer.json, "attachments"), "data");
  return { photoId: text(object(attachment, "target"), "id") };
}

/**
 * Checks that a comment is on a post or a video of the Page. At Facebook, the id of a comment
 * begins with the number of a post, and its field `object` names what has the comment: the post, a
 * video or a photo. For a post with one photo, both may mean the photo.
 */
export async function isOnMedia(
  api: GraphApi,
  account: AccountAccess,
  { mediaId, commentId, objectId }: CommentRef & { readonly objectId: string | undefined },
  signal: AbortSignal,
): Promise<{ readonly kind: "on_media" } | Missing | Failure> {
  const refusal = await checkMedia(api, account, mediaId, signal);
  if (refusal !== undefined) return refusal;
  const [parent = ""] = commentId.split("_");
  const parents = new Set([parent, numberOf(objectId ?? "")]);
  if (parents.has(numberOf(mediaId))) return { kind: "on_media" };
  if (!mediaId.includes("_")) return MISSING;
  const read = await readPhotoId(api, account, mediaId, signal);
  if ("kind" in read) return read;
  const { photoId } = read;
  return photoId !== undefined && parents.has(photoId) ? { kind: "on_media" } : MISSING;
}
