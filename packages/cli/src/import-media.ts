import { stat } from "node:fs/promises";
import { join } from "node:path";
import { MediaFileService } from "@postrider/contracts/media/v1/media_file_service_pb";
import { type Manifest, MEDIA_FILE } from "#src/export-folder.ts";
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

/** Returns the number of media without a file in the export, such as rejected ones. */
export async function importMedia(given: Import, manifest: Manifest): Promise<number> {
  let leftOut = 0;
  await forEachBatch(given, MEDIA_FILE, async (lines) => {
    for (const line of lines) {
      const { id, status } = JSON.parse(line) as { id: string; status: string };
      if (status === "ready" && manifest.files[`media/${id}`] !== undefined)
        await importMediaFile(given, manifest, line);
      else leftOut += 1;
    }
  });
  return leftOut;
}
