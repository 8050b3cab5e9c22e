import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { dataOf, toRequest, type TiktokAccess } from "./calls.ts";
import {
  askForCreatorInfo,
  privacyLevelOf,
  readCreatorInfo,
  type CreatorInfo,
} from "./creator-info.ts";
import { toFailure } from "./failures.ts";
import { toPhotoFlags } from "./post-flags.ts";

const FIRST_LOOK_MS = 1000;

function toBody(publication: Publication, creator: CreatorInfo) {
  const { title, text: description, media } = publication;
  return {
    media_type: "PHOTO",
    post_mode: "DIRECT_POST",
    post_info: {
      ...(title === undefined ? {} : { title }),
      description,
      privacy_level: privacyLevelOf(publication),
      ...toPhotoFlags(publication, creator),
    },
    source_info: {
      source: "PULL_FROM_URL",
      photo_images: media.map(({ url }) => url),
      photo_cover_index: 0,
    },
  };
}

function toOutcome(answer: PlatformAnswer): Outcome {
  const publishId = text(dataOf(answer), "publish_id");
  if (publishId !== undefined)
    return { kind: "pending", afterMs: FIRST_LOOK_MS, handles: { publishId } };
  return toFailure(answer) ?? { kind: "unknown", message: `HTTP ${answer.status}` };
}

export async function publishPhotos(
  access: TiktokAccess,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const creator = readCreatorInfo(handles);
  if (creator === undefined)
    return {
      kind: "retryable",
      code: "internal_error",
      message: "the creator info was not read",
    };
  const request = toRequest(access, "post/publish/content/init/", toBody(publication, creator));
  const secrets = publication.media.map(({ url }) => url);
  const sent = await sendOnce(
    { ...request, secrets: [...secrets, access.account.accessToken] },
    guard,
  );
  return sent.kind === "answer" ? toOutcome(sent) : toUnanswered(sent);
}

export function createCreatorStep(baseUrl: string): PrepareStep {
  return {
    name: "creator",
    isDone: (handles) => readCreatorInfo(handles) !== undefined,
    run: async (publication, _handles, signal) =>
      await askForCreatorInfo({ baseUrl, account: publication }, publication, signal),
  };
}
