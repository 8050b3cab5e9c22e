import { toStepFailure } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import { readGraphError } from "#src/graph/graph-error.ts";
import { multipartBody } from "#src/http/multipart.ts";
import { formBody, mediaBytes } from "#src/http/request-body.ts";
import type { Handles, PrepareStep, Publication, StepResult } from "#src/publishing/connector.ts";
import { findUrls } from "#src/text/urls.ts";
import { callGraph, idIn, pagePath, unavailable, type FacebookContext } from "./context.ts";
import { MEANINGS, PHOTOS_TAKEN } from "./meanings.ts";

const MAX_RESTARTS = 2;
/** Longer than a step waits in its place, so that the steps begin again with the first. */
const BEGIN_AGAIN_MS = 1500;

function photoName(index: number): string {
  return `photo${index}`;
}

/** The ids of the photos that are there so far. */
export function photoIds({ media }: Publication, handles: Handles): readonly string[] {
  return media.map((_media, index) => handles[photoName(index)] ?? "").filter((id) => id !== "");
}

/** Uploads one photo of the post, unpublished; one whose answer was lost stays behind, seen by nobody. */
export function createPhotoStep(api: GraphApi, index: number): PrepareStep {
  const name = photoName(index);
  return {
    name: `photo ${index + 1}`,
    isDone: (handles) => (handles[name] ?? "") !== "",
    run: async (publication, _handles, signal) => {
      const photo = publication.media[index];
      if (photo === undefined) throw new Error("the post has no such photo");
      const { fileName, contentType } = photo;
      const body = multipartBody([
        { name: "published", value: "false" },
        { name: "source", fileName, contentType, source: mediaBytes(photo) },
      ]);
      const call = { method: "POST", path: pagePath(publication, "photos"), body } as const;
      const answer = await callGraph(api, publication, call, signal);
      const id = idIn(answer);
      return id === undefined ? toStepFailure(answer, MEANINGS) : { [name]: id };
    },
  };
}

/** A preview needs the address beside the text; without photos the first one in the text is shown. */
function linkIn({ text, media }: Publication): string | undefined {
  if (media.length > 0) return undefined;
  return findUrls(text)
    .map(({ start, end }) => text.slice(start, end))
    .find((url) => /^https?:\/\//i.test(url));
}

/** What a post consists of, as parameters of `feed`. */
export function toPostFields(
  publication: Publication,
  handles: Handles,
): Readonly<Record<string, string>> {
  const link = linkIn(publication);
  const photos = photoIds(publication, handles).map((id) => ({ media_fbid: id }));
  return {
    ...(publication.text === "" ? {} : { message: publication.text }),
    ...(link === undefined ? {} : { link }),
    ...(photos.length === 0 ? {} : { attached_media: JSON.stringify(photos) }),
  };
}

/**
 * An earlier answer was lost and its post, which nobody sees, holds the photos: they are uploaded once more for another.
 */
function restart({ media }: Publication, handles: Handles): StepResult | undefined {
  const restarts = Number(handles.restarts ?? 0);
  if (restarts >= MAX_RESTARTS) return undefined;
  const dropped = Object.fromEntries(media.map((_media, index) => [photoName(index), ""]));
  const counted = { ...dropped, restarts: String(restarts + 1) };
  return { kind: "wait", afterMs: BEGIN_AGAIN_MS, handles: counted };
}

async function createPost(context: FacebookContext, handles: Handles): Promise<StepResult> {
  const { api, publication, signal } = context;
  if (photoIds(publication, handles).length < publication.media.length)
    return { kind: "wait", afterMs: BEGIN_AGAIN_MS };
  const body = formBody({ ...toPostFields(publication, handles), published: "false" });
  const call = { method: "POST", path: pagePath(publication, "feed"), body } as const;
  const answer = await callGraph(api, publication, call, signal);
  const postId = idIn(answer);
  if (postId !== undefined) return { postId };
  if (answer.kind === "no_answer") return unavailable(answer.message);
  const areTaken = readGraphError(answer)?.subcode === PHOTOS_TAKEN;
  return (areTaken ? restart(publication, handles) : undefined) ?? toStepFailure(answer, MEANINGS);
}

/** Makes the post, unpublished: only its id, which is stored, can make it visible. */
export function createPostStep(api: GraphApi): PrepareStep {
  return {
    name: "post",
    isDone: (handles) => handles.postId !== undefined,
    run: (publication, handles, signal) => createPost({ api, publication, signal }, handles),
  };
}
