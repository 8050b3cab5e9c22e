import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  CreateUploadRequest,
  CreateUploadResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

export function createUpload(
  _deps: MediaServiceDeps,
  _request: CreateUploadRequest,
): Promise<MessageInitShape<typeof CreateUploadResponseSchema>> {
  throw new ConnectError("not built yet", Code.Unimplemented);
}
