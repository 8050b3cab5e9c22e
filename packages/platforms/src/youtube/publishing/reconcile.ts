import type { FindPublication } from "#src/publishing/connector.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { CLOCK_TOLERANCE_MS } from "#src/publishing/matching-posts.ts";
import { readSession, searchUploads, toVerdict } from "./search-uploads.ts";
import { readUpload } from "./upload-state.ts";

/**
 * A session that has ended may have created a video, so the channel's uploads are then searched.
 */
export function createReconcile(baseUrl: string): FindPublication {
  return async (publication, handles, call, signal) => {
    const upload = readUpload(handles);
    if (upload === undefined) return { kind: "absent" };
    const state = await readSession(publication, upload, signal);
    switch (state?.kind) {
      case "complete":
        return toVerdict(publication, state.video);
      case "incomplete":
        return { kind: "absent" };
      case "gone": {
        if (!upload.isOffered) return { kind: "absent" };
        const since = upload.startedAt - CLOCK_TOLERANCE_MS;
        const found = await searchUploads(baseUrl, publication, since, call, signal);
        // YouTube may list an uploaded video late. A list without the video therefore leaves the
        // outcome unknown.
        return found.kind === "absent"
          ? { kind: "cannot_tell", message: "the upload session has ended and no video was found" }
          : found;
      }
      case undefined:
        return repeatLook(call);
    }
  };
}
