import type { FindPublication } from "#src/publishing/connector.ts";
import { searchStart } from "#src/publishing/matching-posts.ts";
import { readSession, searchUploads, toVerdict } from "./search-uploads.ts";
import { readUpload } from "./upload-state.ts";

/**
 * After a restore, the restored upload session or a later one that the restored data lacks may have
 * completed the video.
 */
export function createFindMatchingPost(baseUrl: string): FindPublication {
  return async (publication, handles, call, signal) => {
    const upload = readUpload(handles);
    const state = upload === undefined ? undefined : await readSession(publication, upload, signal);
    if (state?.kind === "complete") return toVerdict(publication, state.video);
    const since = searchStart(call).getTime();
    return await searchUploads(baseUrl, publication, since, call, signal);
  };
}
