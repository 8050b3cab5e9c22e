import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  DeleteMediaRequest,
  DeleteMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

export function deleteMedia(
  _deps: MediaServiceDeps,
  _request: DeleteMediaRequest,
): Promise<MessageInitShape<typeof DeleteMediaResponseSchema>> {
  throw new ConnectError("not built yet", Code.Unimplemented);
}
