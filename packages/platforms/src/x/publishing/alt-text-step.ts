import { callPlatform } from "#src/http/call-platform.ts";
import { bearer, jsonBody } from "#src/http/platform-request.ts";
import { refuseLongAltText } from "#src/publishing/alt-text.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { platformUnavailable } from "#src/publishing/outcome.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import type { PrepareStep, StepResult } from "#src/publishing/steps.ts";
import { x } from "#src/x/facts.ts";
import { toUploadFailure } from "./failures.ts";
import { categoryOf } from "./upload-calls.ts";
import { readUpload } from "./upload-state.ts";

function nameOf(index: number): string {
  return `altText${index}`;
}

/**
 * Whether X shows a description of the file. Source: POST media/metadata/create, "currently only
 * supported for images and GIFs".
 */
export function isDescribed(media: PublicationMedia): boolean {
  return media.altText !== null && categoryOf(media) !== "tweet_video";
}

async function describe(
  baseUrl: string,
  publication: Publication,
  index: number,
  handles: Handles,
  signal: AbortSignal,
): Promise<StepResult> {
  const media = publication.media[index];
  const upload = readUpload(handles, index);
  if (media === undefined || upload === undefined)
    throw new Error(`the post has no uploaded file at index ${index}`);
  const refusal = refuseLongAltText(x.rules, media);
  if (refusal !== undefined) return refusal;
  const url = `${baseUrl}/2/media/metadata`;
  const headers = bearer(publication.accessToken);
  const body = jsonBody({ id: upload.id, metadata: { alt_text: { text: media.altText } } });
  const answer = await callPlatform({ method: "POST", url, headers, body }, signal);
  if (answer.kind === "no_answer") return platformUnavailable(answer.message);
  const isDone = answer.status >= 200 && answer.status < 300;
  return isDone ? { [nameOf(index)]: upload.id } : toUploadFailure(answer);
}

export function createAltTextStep(baseUrl: string, index: number): PrepareStep {
  return {
    name: `description ${index + 1}`,
    isDone: (handles) => {
      const describedId = handles[nameOf(index)];
      return describedId !== undefined && describedId === readUpload(handles, index)?.id;
    },
    run: (publication, handles, signal) => describe(baseUrl, publication, index, handles, signal),
  };
}
