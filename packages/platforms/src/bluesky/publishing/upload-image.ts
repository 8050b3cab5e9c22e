import { callPlatform } from "#src/http/http.ts";
import { object } from "#src/http/platform-answer.ts";
import { bytesBody, mediaBytes } from "#src/http/request-body.ts";
import type { PrepareStep } from "#src/publishing/connector.ts";
import { isFresh, toBlobHandle } from "./blob-state.ts";
import { hostOf, isForeign, toUploadFailure } from "./xrpc.ts";

/** `com.atproto.repo.uploadBlob` (platforms reference 7.1): one image of the post, as it is. */
export function createImageStep(baseUrl: string, index: number): PrepareStep {
  return {
    name: `upload ${index + 1}`,
    isDone: (handles) => isFresh(handles, index, Date.now()),
    run: async (publication, _handles, signal) => {
      const media = publication.media[index];
      if (media === undefined) throw new Error("the post has no such media");
      const url = `${hostOf(baseUrl, publication)}/xrpc/com.atproto.repo.uploadBlob`;
      const headers = { authorization: `Bearer ${publication.accessToken}` };
      const body = bytesBody(media.contentType, mediaBytes(media));
      const call = {
        method: "POST",
        url,
        headers,
        body,
        isForeign: isForeign(publication),
      } as const;
      const answer = await callPlatform(call, signal);
      const isDone = answer.kind === "answer" && answer.status === 200;
      const blob = isDone ? object(answer.json, "blob") : undefined;
      return blob === undefined ? toUploadFailure(answer) : toBlobHandle(index, blob, Date.now());
    },
  };
}
