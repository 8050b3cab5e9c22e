import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  PrepareMediaRequestSchema,
  PrepareMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import type { TestMedia } from "@postrider/platforms/test/test-media";
import { toContentMedia } from "./fixture.ts";

const PREPARE_MEDIA = "/postrider.media.v1.MediaService/PrepareMedia";

/** Whether a request is a call of `PrepareMedia`, which `answerPrepareMedia` answers. */
export function isPrepareMedia({ url }: IncomingMessage): boolean {
  return url === PREPARE_MEDIA;
}

/** Answers that the files are ready as they are. */
export async function answerPrepareMedia(
  request: IncomingMessage,
  response: ServerResponse,
  find: (workspaceId: string, id: string) => TestMedia | undefined,
): Promise<void> {
  const { items } = fromBinary(PrepareMediaRequestSchema, await buffer(request));
  const files = items.map(({ workspaceId, mediaId }) => {
    const media = find(workspaceId, mediaId);
    if (media === undefined) return {};
    const { contentType, sha256, bytes } = media;
    return {
      media: toContentMedia(workspaceId, media),
      renditionId: "delivery",
      contentType,
      sha256,
      bytes: BigInt(bytes),
      width: media.width ?? 0,
      height: media.height ?? 0,
    };
  });
  const message = create(PrepareMediaResponseSchema, { files });
  response.writeHead(200, { "content-type": "application/proto" });
  response.end(toBinary(PrepareMediaResponseSchema, message));
}
