import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  UseMediaRequest,
  UseMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

export function useMedia(
  _deps: MediaServiceDeps,
  _request: UseMediaRequest,
): Promise<MessageInitShape<typeof UseMediaResponseSchema>> {
  throw new ConnectError("not built yet", Code.Unimplemented);
}
