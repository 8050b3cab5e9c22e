import type { FindPublication } from "#src/publishing/connector.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { readSession, searchUploads, toVerdict } from "./search-uploads.ts";
import { readUpload } from "./upload-state.ts";

/** Clocks may differ: how long before the start of the upload a video may be dated. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Asks the upload session for the result of the call. A session that has ended may have created a video: it is searched for. */
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
        // The list does not prove that the session created no video.
        return found.kind === "absent"
          ? { kind: "cannot_tell", message: "the upload session has ended and no video was found" }
          : found;
      }
      case undefined:
        return repeatLook(call);
    }
  };
}
