import { text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { sendOnce, toUnanswered } from "#src/http/send-once.ts";
import type {
  Handles,
  Outcome,
  PrepareStep,
  Publication,
  SendGuard,
} from "#src/publishing/connector.ts";
import { dataOf, toRequest, type TiktokAccess } from "./calls.ts";
import { askForCreator, privacyLevelOf, readCreator, type Creator } from "./creator.ts";
import { toFailure } from "./failures.ts";

/** TikTok fetches first, which takes it about as long. */
const FIRST_LOOK_MS = 1000;

function toBody(publication: Publication, creator: Creator) {
  const { title, text: description, media } = publication;
  return {
    media_type: "PHOTO",
    post_mode: "DIRECT_POST",
    post_info: {
      ...(title === undefined ? {} : { title }),
      description,
      privacy_level: privacyLevelOf(publication),
      disable_comment: creator.isCommentDisabled,
      auto_add_music: false,
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

/** The init of photos is the call that makes them visible: TikTok fetches them and posts them by itself. */
export async function publishPhotos(
  access: TiktokAccess,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const creator = readCreator(handles);
  if (creator === undefined)
    return {
      kind: "retryable",
      code: "internal_error",
      message: "what may be posted is not known",
    };
  const request = toRequest(access, "post/publish/content/init/", toBody(publication, creator));
  const secrets = publication.media.map(({ url }) => url);
  const sent = await sendOnce(
    { ...request, secrets: [...secrets, access.account.accessToken] },
    guard,
  );
  return sent.kind === "answer" ? toOutcome(sent) : toUnanswered(sent);
}

/** What the creator may do is asked for before the photos are sent. */
export function createCreatorStep(baseUrl: string): PrepareStep {
  return {
    name: "creator",
    isDone: (handles) => readCreator(handles) !== undefined,
    run: async (publication, _handles, signal) =>
      await askForCreator({ baseUrl, account: publication }, publication, signal),
  };
}
