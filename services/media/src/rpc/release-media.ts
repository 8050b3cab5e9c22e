import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  ReleaseMediaRequest,
  ReleaseMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

export function releaseMedia(
  _deps: MediaServiceDeps,
  _request: ReleaseMediaRequest,
): Promise<MessageInitShape<typeof ReleaseMediaResponseSchema>> {
  throw new ConnectError("not built yet", Code.Unimplemented);
}
