import type { Connector, Publication, UnknownCall, Verdict } from "#src/publishing/connector.ts";
import { judgeTwins, lookAgain } from "#src/publishing/twins.ts";
import { findLock, toIds } from "./made-video.ts";
import { listSameUploads } from "./own-uploads.ts";
import { askSession, toSessionState, type SessionState } from "./upload-calls.ts";
import { readUpload, type MadeVideo, type Upload } from "./upload-state.ts";

const MINUTE_MS = 60_000;
/** A session that has ended says nothing more, so the channel's uploads are looked through at these times after the call. */
const LOOKS_AFTER_MS = [5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS];

function toVerdict(publication: Publication, video: MadeVideo): Verdict {
  return findLock(publication, video) ?? { kind: "present", ...toIds(publication, video) };
}

async function ask(
  publication: Publication,
  upload: Upload,
  signal: AbortSignal,
): Promise<SessionState | undefined> {
  const [media] = publication.media;
  if (media === undefined) return undefined;
  const answer = await askSession(publication, upload.uri, media.bytes, signal);
  return answer.kind === "answer" ? toSessionState(answer) : undefined;
}

/** Takes the one video of these words that no other target owns; its absence is proved by looks at all the set times. */
async function lookThroughUploads(
  baseUrl: string,
  publication: Publication,
  since: number,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const videos = await listSameUploads(baseUrl, publication, since, signal);
  if ("failure" in videos) {
    if (videos.failure === "unreadable") return lookAgain(call);
    return { kind: "cannot_tell", message: "the channel's uploads cannot be read" };
  }
  const twins = videos.map((video) => ({ ...video, permalink: null }));
  // Every video has a title, and that is what it is found by.
  const words = { text: publication.title ?? "" };
  const verdict = await judgeTwins(twins, words, call, LOOKS_AFTER_MS);
  if (verdict.kind !== "present") return verdict;
  const video = videos.find(({ id }) => id === verdict.externalId);
  return video === undefined ? verdict : toVerdict(publication, video);
}

/** Asks the session what became of the call; one that has ended may have made a video, which is then looked for. */
export function reconcileBySession(baseUrl: string): Connector["reconcile"] {
  return async (publication, handles, call, signal) => {
    const upload = readUpload(handles);
    if (upload === undefined) return { kind: "absent" };
    const state = await ask(publication, upload, signal);
    switch (state?.kind) {
      case "complete":
        return toVerdict(publication, state.video);
      case "incomplete":
        return { kind: "absent" };
      case "gone": {
        if (!upload.isOffered) return { kind: "absent" };
        const { startedAt } = upload;
        const found = await lookThroughUploads(baseUrl, publication, startedAt, call, signal);
        // The list is no proof that a video which the session may have made is not there.
        return found.kind === "absent"
          ? { kind: "cannot_tell", message: "the upload has ended, and no video was found" }
          : found;
      }
      case undefined:
        return lookAgain(call);
    }
  };
}

/** After a restore: the session that the data knows may have ended well, and a later one is not known at all. */
export function findTwinVideo(baseUrl: string): Connector["reconcile"] {
  return async (publication, handles, call, signal) => {
    const upload = readUpload(handles);
    const state = upload === undefined ? undefined : await ask(publication, upload, signal);
    if (state?.kind === "complete") return toVerdict(publication, state.video);
    const since = call.calledAt.getTime();
    return await lookThroughUploads(baseUrl, publication, since, call, signal);
  };
}
