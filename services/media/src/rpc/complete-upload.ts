import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  CompleteUploadRequest,
  CompleteUploadResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

export function completeUpload(
  _deps: MediaServiceDeps,
  _request: CompleteUploadRequest,
): Promise<MessageInitShape<typeof CompleteUploadResponseSchema>> {
  throw new ConnectError("not built yet", Code.Unimplemented);
}
