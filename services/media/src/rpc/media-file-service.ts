import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { MediaFileService } from "@postrider/contracts/media/v1/media_file_service_pb";
import { CompleteUploadRequestSchema } from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { findMedia } from "#src/db/media.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { beginMediaFile, completeMediaFile } from "#src/operations/imported-media.ts";
import { completeUpload } from "#src/rpc/complete-upload.ts";

const PART_BYTES = 4 * 1024 * 1024;

type Deps = Pick<
  RpcDependencies,
  | "sql"
  | "store"
  | "limits"
  | "grantMs"
  | "storageBytes"
  | "storageTurns"
  | "assertRoom"
  | "checks"
  | "completeMs"
>;

export function createMediaFileService(deps: Deps): ServiceImpl<typeof MediaFileService> {
  const { sql, store } = deps;
  return {
    async readMediaFile({ workspaceId, id, offset }) {
      if (!isId(workspaceId) || !isId(id) || offset < 0n) throw invalidRequest();
      const media = await findMedia(sql, workspaceId, id);
      if (media?.status !== "ready" || media.objectKey === null) throw notFound();
      if (Number(offset) >= media.bytes) return { content: new Uint8Array() };
      const range = { start: Number(offset), length: PART_BYTES };
      const object = await store.open(media.objectKey, range);
      if (object === undefined) throw notFound();
      const chunks: Uint8Array[] = [];
      for await (const chunk of object.content) chunks.push(chunk);
      return { content: Buffer.concat(chunks) };
    },
    async beginMediaFile(request) {
      return { uploadToken: await beginMediaFile(deps, request) };
    },
    async completeMediaFile(request) {
      await completeMediaFile(deps, request, (media) =>
        completeUpload(deps, create(CompleteUploadRequestSchema, media)),
      );
      return {};
    },
  };
}
