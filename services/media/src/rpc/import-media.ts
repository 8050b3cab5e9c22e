import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type {
  ImportMediaRequest,
  ImportMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import type { MediaServiceDeps } from "#src/rpc/media-service.ts";

export function importMedia(
  _deps: MediaServiceDeps,
  _request: ImportMediaRequest,
): Promise<MessageInitShape<typeof ImportMediaResponseSchema>> {
  throw new ConnectError("not built yet", Code.Unimplemented);
}
