import { readGraphError, toStepFailure } from "#src/graph-api/failures.ts";
import { edgeOf, type GraphApi, openGraph } from "#src/graph-api/graph-request.ts";
import { multipartBody } from "#src/http/multipart.ts";
import { formBody } from "#src/http/platform-request.ts";
import { ask } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import { platformUnavailable } from "#src/publishing/outcome.ts";
import { fileAt, type Publication } from "#src/publishing/publication.ts";
import { type PrepareStep, runAgain, type StepResult } from "#src/publishing/steps.ts";
import { findWebLinks } from "#src/text/web-links.ts";
import { type FacebookContext, idIn } from "./calls.ts";
import {
  isLinkRefused,
  mayBeLink,
  MEANINGS,
  PHOTOS_TAKEN,
  WITHOUT_LINK,
} from "./error-meanings.ts";

const MAX_RESTARTS = 2;
const RESTART_WAIT_MS = 1500;

function photoName(index: number): string {
  return `photo${index}`;
}

export function photoIds({ media }: Publication, handles: Handles): readonly string[] {
  return media.map((_media, index) => handles[photoName(index)] ?? "").filter((id) => id !== "");
}

/** A photo whose upload was not answered is never published. */
export function createPhotoStep(api: GraphApi, index: number): PrepareStep {
  const name = photoName(index);
  return {
    name: `photo ${index + 1}`,
    isDone: (handles) => (handles[name] ?? "") !== "",
    run: async (publication, _handles, signal) => {
      const photo = fileAt(publication, index);
      const { fileName, contentType, altText } = photo;
      const body = multipartBody([
        { name: "published", value: "false" },
        ...(altText === null ? [] : [{ name: "alt_text_custom", value: altText }]),
        { name: "source", fileName, contentType, source: mediaBytes(photo) },
      ]);
      const graph = openGraph(api, publication, signal);
      const answer = await ask(graph, {
        method: "POST",
        path: edgeOf(publication, "photos"),
        body,
      });
      const id = idIn(answer);
      return id === undefined ? toStepFailure(answer, MEANINGS) : { [name]: id };
    },
  };
}

/** Percent-encoded. Facebook shows a preview only if the link is also a parameter. */
function linkIn({ text, media }: Publication): string | undefined {
  if (media.length > 0) return undefined;
  return findWebLinks(text)
    .map(({ uri, hasProtocol }) => (hasProtocol ? URL.parse(uri) : null))
    .find((url) => url !== null && mayBeLink(url))?.href;
}

export function toPostFields(
  publication: Publication,
  handles: Handles,
): Readonly<Record<string, string>> {
  const link = handles.link === WITHOUT_LINK.link ? undefined : linkIn(publication);
  const photos = photoIds(publication, handles).map((id) => ({ media_fbid: id }));
  return {
    ...(publication.text === "" ? {} : { message: publication.text }),
    ...(link === undefined ? {} : { link }),
    ...(photos.length === 0 ? {} : { attached_media: JSON.stringify(photos) }),
  };
}

/**
 * An earlier call created an unpublished post whose answer was lost; this post owns the photos that
 * were uploaded first.
 */
function restart({ media }: Publication, handles: Handles): StepResult | undefined {
  const restarts = Number(handles.restarts ?? 0);
  if (restarts >= MAX_RESTARTS) return undefined;
  const dropped = Object.fromEntries(media.map((_media, index) => [photoName(index), ""]));
  const counted = { ...dropped, restarts: String(restarts + 1) };
  return { kind: "wait", afterMs: RESTART_WAIT_MS, handles: counted };
}

async function createPost(
  { graph, publication }: FacebookContext,
  handles: Handles,
): Promise<StepResult> {
  if (photoIds(publication, handles).length < publication.media.length)
    return { kind: "wait", afterMs: RESTART_WAIT_MS };
  const body = formBody({ ...toPostFields(publication, handles), published: "false" });
  const answer = await ask(graph, { method: "POST", path: edgeOf(publication, "feed"), body });
  const postId = idIn(answer);
  if (postId !== undefined) return { postId };
  if (answer.kind === "no_answer") return platformUnavailable(answer.message);
  if (isLinkRefused(answer, handles)) return runAgain(WITHOUT_LINK);
  const arePhotosTaken = readGraphError(answer)?.subcode === PHOTOS_TAKEN;
  return (
    (arePhotosTaken ? restart(publication, handles) : undefined) ?? toStepFailure(answer, MEANINGS)
  );
}

export function createPostStep(api: GraphApi): PrepareStep {
  return {
    name: "post",
    isDone: (handles) => handles.postId !== undefined,
    run: (publication, handles, signal) =>
      createPost({ graph: openGraph(api, publication, signal), publication }, handles),
  };
}
