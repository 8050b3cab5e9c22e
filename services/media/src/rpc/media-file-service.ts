import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { MediaFileService } from "@postrider/contracts/media/v1/media_file_service_pb";
import { CompleteUploadRequestSchema } from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest, notFound, conflict, unprocessable } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { anyObject, between, oneOf, text } from "@postrider/shared/workspaces/column-checks";
import { readColumns } from "@postrider/shared/workspaces/import-rows";
import { assertImporting } from "@postrider/shared/workspaces/import-state";
import { type ColumnChecks, parseRow } from "@postrider/shared/workspaces/imported-row";
import { EXPORTED_TABLES } from "#src/db/exported-tables.ts";
import { describeImported, lockAnyMedia } from "#src/db/imported-media.ts";
import { deleteUnready, markDeleting } from "#src/db/media-deletion.ts";
import { findMedia, insertUpload, type NewUpload } from "#src/db/media.ts";
import { hashUploadToken, insertGrant, newUploadToken } from "#src/db/upload-grants.ts";
import { checkDeclared, kindOf } from "#src/domain/accepted-types.ts";
import { FORBIDDEN_CHARACTERS, MAX_FILE_NAME } from "#src/domain/file-name.ts";
import { countCharacters, MAX_ALT_TEXT_LENGTH } from "#src/domain/media-description.ts";
import type { RpcDependencies, MediaDependencies } from "#src/operations/dependencies.ts";
import { assertUploadCount, storeWithinLimit } from "#src/operations/storage-limit.ts";
import { completeUpload } from "#src/rpc/complete-upload.ts";

interface MediaImport {
  readonly workspaceId: string;
  /** The row of the media in the export, as JSON. */
  readonly row: string;
}

interface ImportedMedia extends NewUpload {
  readonly sha256: string;
  /** The checked row, as JSON. */
  readonly row: string;
}

/** The types of the columns are checked, but each may be null. */
interface MediaRow {
  readonly id: string | null;
  readonly content_type: string | null;
  readonly bytes: number | null;
  readonly file_name: string | null;
  readonly sha256: string | null;
}

const CHECKS: ColumnChecks = {
  status: oneOf("ready"),
  bytes: between(1, Number.MAX_SAFE_INTEGER),
  file_name: text(2 * MAX_FILE_NAME, isFileName),
  alt_text: text(
    2 * MAX_ALT_TEXT_LENGTH,
    (altText) => countCharacters(altText) <= MAX_ALT_TEXT_LENGTH,
  ),
  video: anyObject,
};

function isFileName(name: string): boolean {
  const isShort = name !== "" && countCharacters(name) <= MAX_FILE_NAME;
  return isShort && name.search(FORBIDDEN_CHARACTERS) === -1;
}

function toMedia(workspaceId: string, row: MediaRow): ImportedMedia | undefined {
  const { id, content_type: contentType, bytes, file_name: fileName, sha256 } = row;
  if (id === null || contentType === null || bytes === null || fileName === null) return undefined;
  if (sha256 === null || !isId(id)) return undefined;
  const kind = kindOf(contentType) ?? "video";
  const checked = JSON.stringify(row);
  return { id, workspaceId, kind, contentType, bytes, fileName, sha256, row: checked };
}

async function parseMedia(sql: Sql, { workspaceId, row }: MediaImport): Promise<ImportedMedia> {
  const columns = await readColumns(sql, "media", EXPORTED_TABLES.media);
  const rules = { columns, workspaceId, owner: "workspace_id", checks: CHECKS };
  const parsed = parseRow(row, rules);
  const media =
    parsed.kind === "row" ? toMedia(workspaceId, parsed.row as unknown as MediaRow) : undefined;
  if (media === undefined) throw invalidRequest([{ code: "invalid", path: "/row" }]);
  await assertImporting(sql, workspaceId);
  return media;
}

/** Returns false when the media are ready. Their interrupted upload begins again. */
async function makeRoom(tx: TransactionSql, { id, workspaceId }: ImportedMedia): Promise<boolean> {
  const existing = await lockAnyMedia(tx, id);
  if (existing === undefined) return true;
  if (existing.workspaceId !== workspaceId || existing.status === "deleting")
    throw conflict("row_exists");
  if (existing.status === "ready") return false;
  // Its object, if there is one, is deleted by remove-orphans.
  await deleteUnready(tx, { workspaceId, mediaId: id });
  return true;
}

/**
 * Media of an export are an upload with an id of its own: the file goes through the same check as
 * any upload, which also makes the file for the platforms again.
 *
 * @returns The token of the upload; "" when the media are ready.
 */
async function beginMediaFile(
  deps: Pick<
    MediaDependencies,
    "sql" | "limits" | "grantMs" | "storageBytes" | "storageTurns" | "assertRoom"
  >,
  request: MediaImport,
): Promise<string> {
  const media = await parseMedia(deps.sql, request);
  const { workspaceId, bytes, id } = media;
  const violation = checkDeclared(media, deps.limits);
  if (violation !== undefined) throw unprocessable("media_rejected", [violation]);
  await deps.assertRoom();
  const isMissing = await deps.sql.begin((tx) => makeRoom(tx, media));
  if (!isMissing) return "";
  const token = newUploadToken();
  const demand = { workspaceId, bytes, defaultLimitBytes: deps.storageBytes };
  await storeWithinLimit(deps, demand, async (tx, uploadCount) => {
    assertUploadCount(uploadCount);
    await insertUpload(tx, media);
    const tokenSha256 = hashUploadToken(token);
    await insertGrant(tx, { mediaId: id, workspaceId, tokenSha256, validMs: deps.grantMs });
  });
  return token;
}

/**
 * Another file than the exported one does not stay.
 *
 * @param check Ends when the uploaded file is checked.
 */
async function completeMediaFile(
  { sql }: Pick<MediaDependencies, "sql">,
  request: MediaImport,
  check: (media: { readonly workspaceId: string; readonly id: string }) => Promise<unknown>,
): Promise<void> {
  const { workspaceId, id, sha256, row } = await parseMedia(sql, request);
  await check({ workspaceId, id });
  const found = await findMedia(sql, workspaceId, id);
  if (found?.sha256 !== sha256) {
    await sql.begin((tx) => markDeleting(tx, { workspaceId, mediaId: id }));
    throw unprocessable("media_rejected", [{ code: "other_file", path: "/row/sha256" }]);
  }
  await describeImported(sql, { workspaceId, id, row });
}

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
