import { repeatLook } from "#src/publishing/look-schedule.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { listMatchingUploads } from "./channel-uploads.ts";
import { askSession, toSessionState, type SessionState } from "./upload-calls.ts";
import type { Upload } from "./upload-state.ts";
import { toPublished, type UploadedVideo } from "./uploaded-video.ts";

const MINUTE_MS = 60_000;
/**
 * YouTube's list of uploads is delayed, so only complete searches at all these times prove that the
 * video is absent.
 */
const LOOKS_AFTER_MS = [5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS];

export function toVerdict(publication: Publication, video: UploadedVideo): Verdict {
  return { kind: "present", ...toPublished(publication, video) };
}

export async function readSession(
  publication: Publication,
  upload: Upload,
  signal: AbortSignal,
): Promise<SessionState | undefined> {
  const [media] = publication.media;
  if (media === undefined) return undefined;
  const answer = await askSession(publication, upload.uri, media.bytes, signal);
  return answer.kind === "answer" ? toSessionState(answer) : undefined;
}

/** Found when exactly one upload matches that no other Postrider post owns. */
export async function searchUploads(
  baseUrl: string,
  publication: Publication,
  since: number,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const videos = await listMatchingUploads(baseUrl, publication, since, signal);
  if ("failure" in videos) {
    if (videos.failure === "unreadable") return repeatLook(call);
    return { kind: "cannot_tell", message: "YouTube refuses to list the channel's uploads" };
  }
  const posts = videos.map((video) => ({ ...video, permalink: null }));
  // Every YouTube video has a title, so the text to match is never empty.
  const content = { text: publication.title ?? "" };
  const verdict = await judgeMatchingPosts(posts, content, call, LOOKS_AFTER_MS);
  if (verdict.kind !== "present") return verdict;
  const video = videos.find(({ id }) => id === verdict.externalId);
  return video === undefined ? verdict : toVerdict(publication, video);
}
