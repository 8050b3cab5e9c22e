import type { ReadyMedia } from "../gen/openapi.ts";
import type { Operations } from "../gen/operations.ts";
import { PostriderError } from "./errors.ts";
import { type FileData, type FileFacts, toFileSource } from "./file-source.ts";
import type { RequestOptions } from "./operation-types.ts";
import { putFile, type PutOptions } from "./put-file.ts";
import { repeat } from "./repeat.ts";

export interface UploadOptions extends FileFacts, Pick<PutOptions, "onProgress"> {
  readonly signal?: AbortSignal | undefined;
  readonly workspaceId?: string | undefined;
}

interface UploadDependencies extends Pick<Operations, "presignUpload" | "completeUpload"> {
  readonly fetch: typeof fetch | undefined;
  readonly maxRetries: number;
}

/** Asks for an upload address, sends the bytes there, and lets the API check them. */
export async function uploadFile(
  { presignUpload, completeUpload, fetch, maxRetries }: UploadDependencies,
  data: FileData,
  options: UploadOptions = {},
): Promise<ReadyMedia> {
  const { onProgress, signal, workspaceId } = options;
  const file = toFileSource(data, options);
  const { fileName, contentType, bytes } = file;
  const request: RequestOptions = { signal, workspaceId };
  const grant = await presignUpload({ fileName, contentType, bytes }, request);
  const send = async (): Promise<void> => {
    try {
      await putFile(grant.uploadUrl, file, { onProgress, signal, fetch });
    } catch (error) {
      // The file was received already: an earlier request sent it and the answer was lost, or all
      // bytes had arrived before the connection broke.
      const isReceived =
        error instanceof PostriderError && error.code === "upload_already_received";
      if (!isReceived) throw error;
    }
  };
  await (file.body instanceof Blob
    ? repeat(send, { maxRetries, isRepeatable: true, signal })
    : send());
  return await completeUpload(grant.id, {}, request);
}
