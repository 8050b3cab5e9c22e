import { stat } from "node:fs/promises";
import { join } from "node:path";
import { MediaFileService } from "@postrider/contracts/media/v1/media_file_service_pb";
import { type Manifest, MEDIA_FILE, readLines } from "#src/export-folder.ts";
import { CommandFailure } from "#src/failures.ts";
import { forEachBatch, type Import } from "#src/import-rows.ts";

/** One file at a time: it is uploaded, and checked by the inspector like any upload. */
async function importMediaFile(
  { services, folder, workspaceId }: Import,
  { files }: Manifest,
  row: string,
): Promise<void> {
  const { id, content_type: type } = JSON.parse(row) as { id: string; content_type: string };
  const client = services.client("media", MediaFileService);
  const { uploadToken } = await client.beginMediaFile({ workspaceId, row });
  const path = join(folder, "media", id);
  if (uploadToken !== "") {
    const hash = Buffer.from(files[`media/${id}`]?.sha256 ?? "", "hex").toString("base64");
    const headers = {
      "x-upload-token": uploadToken,
      "content-type": type,
      "content-length": String((await stat(path)).size),
      "content-digest": `sha-256=:${hash}:`,
    };
    const status = await services.putFile("media", `/uploads/${id}`, { path, headers });
    if (status !== 204)
      throw new CommandFailure(
        "upload_failed",
        `the upload of ${path} was answered with ${status}`,
      );
  }
  await client.completeMediaFile({ workspaceId, row });
}

function parseMedia(row: string): { readonly id: string; readonly isReady: boolean } {
  const { id, status } = JSON.parse(row) as { id: string; status: string };
  return { id, isReady: status === "ready" };
}

/**
 * An import leaves out media without a file, and what refers to them; a move must not. All other
 * rows that it leaves out refer to something that its old cell does not have either.
 *
 * @throws CommandFailure `incomplete_export`
 */
export async function assertFilesOfReady(folder: string, { files }: Manifest): Promise<void> {
  for await (const line of readLines(join(folder, MEDIA_FILE))) {
    const { id, isReady } = parseMedia(line);
    if (isReady && files[`media/${id}`] === undefined)
      throw new CommandFailure(
        "incomplete_export",
        `${folder} lacks the file of the media ${id}, which was not there when it was exported; name another folder`,
      );
  }
}

/** Returns the number of media without a file in the export, such as rejected ones. */
export async function importMedia(given: Import, manifest: Manifest): Promise<number> {
  let leftOut = 0;
  await forEachBatch(given, MEDIA_FILE, async (lines) => {
    for (const line of lines) {
      const { id, isReady } = parseMedia(line);
      if (isReady && manifest.files[`media/${id}`] !== undefined)
        await importMediaFile(given, manifest, line);
      else leftOut += 1;
    }
  });
  return leftOut;
}
