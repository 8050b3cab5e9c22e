import { callPlatform } from "#src/http/call-platform.ts";
import { object } from "#src/http/platform-answer.ts";
import { bearer, bytesBody } from "#src/http/platform-request.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { isFresh, toBlobHandle } from "./blob-state.ts";
import { toUploadFailure } from "./failures.ts";
import { hostOf, isForeign } from "./xrpc.ts";

/** The image is uploaded unchanged. */
export function createImageStep(baseUrl: string, index: number): PrepareStep {
  return {
    name: `upload ${index + 1}`,
    isDone: (handles) => isFresh(handles, index, Date.now()),
    run: async (publication, _handles, signal) => {
      const media = publication.media[index];
      if (media === undefined) throw new Error(`the post has no media at index ${index}`);
      const url = `${hostOf(baseUrl, publication)}/xrpc/com.atproto.repo.uploadBlob`;
      const headers = bearer(publication.accessToken);
      const body = bytesBody(media.contentType, mediaBytes(media));
      const call = { method: "POST", url, headers, body } as const;
      const answer = await callPlatform({ ...call, isForeign: isForeign(publication) }, signal);
      const isDone = answer.kind === "answer" && answer.status === 200;
      const blob = isDone ? object(answer.json, "blob") : undefined;
      return blob === undefined ? toUploadFailure(answer) : toBlobHandle(index, blob, Date.now());
    },
  };
}
