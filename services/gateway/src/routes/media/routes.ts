import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { CreateUploadResponse } from "@postrider/contracts/media/v1/media_service_pb";
import type { MediaLinks } from "@postrider/rest/media/links";
import { toReadyMedia } from "@postrider/rest/media/mapping";
import { ReadyMedia } from "@postrider/rest/media/schemas";
import { ref } from "@postrider/rest/schemas";
import { toOptionalInstant } from "@postrider/rest/timestamps";
import { ServiceError } from "@postrider/shared/errors";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import {
  ImportMedia,
  MediaDeletion,
  PresignUpload,
  UpdateMedia,
  UploadGrant,
} from "#src/routes/media/schemas.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf, pathId, readIdempotency } from "#src/routes/request.ts";
import { IDEMPOTENCY_HEADERS, IdParams, NoQuery, REPLAYED_HEADER } from "#src/routes/schemas.ts";

/**
 * Converts an upload grant to the form of the API. Its URL leads to the object store, or to the
 * gateway if clients cannot upload to the object store.
 */
function toUploadGrant(grant: CreateUploadResponse, publicUrl: string) {
  const { id, uploadPath, uploadToken, uploadUrl } = grant;
  const ours = `${publicUrl}/uploads/${encodeURIComponent(uploadPath)}?token=${encodeURIComponent(uploadToken)}`;
  return {
    id,
    uploadUrl: uploadUrl ?? ours,
    uploadPath,
    uploadToken,
    expiresAt: toOptionalInstant(grant.expiresAt),
  };
}

/**
 * Returns the fields of media to change, as the RPC expects them: an empty description removes the
 * description, and a cover time of -1 removes the cover.
 */
function fromMediaChanges({ altText, coverMs }: Static<typeof UpdateMedia>) {
  return defined({
    altText: altText === null ? "" : altText,
    coverMs: coverMs === undefined ? undefined : BigInt(coverMs ?? -1),
  });
}

type Deps = Pick<ServerDeps, "media" | "publicUrl" | "links" | "uploadTokens">;
type Params = Static<typeof IdParams>;
type PresignBody = Static<typeof PresignUpload>;
type UpdateBody = Static<typeof UpdateMedia>;
type ImportBody = Static<typeof ImportMedia>;

/**
 * Timeout of completing an upload. The media service aborts the check of a file after 120 s. The
 * gateway waits longer, to receive the answer about the aborted check.
 */
const CHECK_TIMEOUT_MS = 125_000;
/**
 * Timeout of an import from a URL: up to 15 s of waiting, 60 s for the download, then the check of
 * the file.
 */
const IMPORT_TIMEOUT_MS = 75_000 + CHECK_TIMEOUT_MS;

/** Registers the operations on media. Uploads and downloads of bytes have routes of their own. */
export function registerMedia(api: FastifyInstance, deps: Deps): void {
  registerPresign(api, deps);
  registerComplete(api, deps);
  registerImport(api, deps);
  registerUpdate(api, deps);
  registerDelete(api, deps);
}

/**
 * Returns the media in an answer of the media service.
 *
 * @throws `internal` for an answer without media, which is an error of the media service, not of
 *   the client.
 */
function requireMedia(workspaceId: string, media: Media | undefined, links: MediaLinks) {
  if (media === undefined) throw new ServiceError("internal", "internal");
  return toReadyMedia(workspaceId, media, links);
}

function registerPresign(api: FastifyInstance, { media, publicUrl, uploadTokens }: Deps): void {
  const presign = operation({
    operationId: "presignUpload",
    summary: "Get a URL to upload a file to",
    description:
      "Send the bytes with a PUT to `uploadUrl`, then complete the upload. An interrupted upload can be repeated until the grant expires.",
    tags: ["media"],
    scope: "posts:write",
    querystring: NoQuery,
    body: ref(PresignUpload),
    errors: ["media_rejected", "quota_exceeded"],
    response: { 201: { description: "The grant. It cannot be read again.", body: UploadGrant } },
  });
  api.post<{ Body: PresignBody }>("/media/presign", presign, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { fileName, contentType, bytes } = request.body;
    // `Number.MAX_SAFE_INTEGER` stands for larger file sizes, which exceed every limit as well.
    const length = BigInt(Math.min(bytes, Number.MAX_SAFE_INTEGER));
    const upload = { workspaceId, fileName, contentType, bytes: length };
    const grant = await media.createUpload(upload);
    const expiresAt = grant.expiresAt === undefined ? new Date() : timestampDate(grant.expiresAt);
    reply.status(201);
    const uploadToken = uploadTokens.sign(grant, expiresAt);
    return toUploadGrant({ ...grant, uploadToken }, publicUrl);
  });
}

function registerComplete(api: FastifyInstance, { media, links }: Deps): void {
  const complete = operation({
    operationId: "completeUpload",
    summary: "Complete an upload and check its file",
    description: "It can be repeated safely. Posts can use the media afterwards.",
    tags: ["media"],
    scope: "posts:write",
    params: IdParams,
    querystring: NoQuery,
    timeoutMs: CHECK_TIMEOUT_MS,
    errors: ["media_not_uploaded", "media_rejected"],
    response: { 200: { description: "The media, ready for posts.", body: ReadyMedia } },
  });
  api.post<{ Params: Params }>("/media/:id/complete", complete, async (request) => {
    const { workspaceId } = callerOf(request);
    const upload = { workspaceId, id: pathId(request) };
    const answer = await media.completeUpload(upload, { timeoutMs: CHECK_TIMEOUT_MS });
    return requireMedia(workspaceId, answer.media, links);
  });
}

function registerImport(api: FastifyInstance, { media, links }: Deps): void {
  const fromUrl = operation({
    operationId: "importMedia",
    summary: "Import a file from a public URL",
    tags: ["media"],
    scope: "posts:write",
    querystring: NoQuery,
    headers: IDEMPOTENCY_HEADERS,
    body: ref(ImportMedia),
    timeoutMs: IMPORT_TIMEOUT_MS,
    errors: ["address_not_allowed", "import_failed", "media_rejected", "quota_exceeded"],
    response: {
      201: {
        description: "The media, ready for posts.",
        body: ReadyMedia,
        headers: REPLAYED_HEADER,
      },
    },
  });
  api.post<{ Body: ImportBody }>("/media/from-url", fromUrl, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const idempotency = readIdempotency(request);
    const answer = await media.importMedia(
      {
        workspaceId,
        url: request.body.url,
        ...(idempotency === undefined ? {} : { idempotency }),
      },
      { timeoutMs: IMPORT_TIMEOUT_MS },
    );
    if (answer.replayed) reply.header("idempotent-replayed", "true");
    reply.status(201);
    return requireMedia(workspaceId, answer.media, links);
  });
}

function registerUpdate(api: FastifyInstance, { media, links }: Deps): void {
  const update = operation({
    operationId: "updateMedia",
    summary: "Describe media",
    description:
      "Changes the fields that are sent, until a post with the media has begun to be published; later it is refused with `media_in_use`. Platforms that take no description or cover ignore them.",
    tags: ["media"],
    scope: "posts:write",
    isExtension: true,
    params: IdParams,
    querystring: NoQuery,
    body: ref(UpdateMedia),
    errors: ["media_in_use", "media_not_uploaded", "validation_failed"],
    response: { 200: { description: "The media.", body: ReadyMedia } },
  });
  api.patch<{ Params: Params; Body: UpdateBody }>("/media/:id", update, async (request) => {
    const { workspaceId } = callerOf(request);
    const change = { workspaceId, id: pathId(request), ...fromMediaChanges(request.body) };
    const answer = await media.updateMedia(change);
    return requireMedia(workspaceId, answer.media, links);
  });
}

function registerDelete(api: FastifyInstance, { media }: Deps): void {
  const remove = operation({
    operationId: "deleteMedia",
    summary: "Delete unused media",
    description:
      "Media that never became ready is deleted immediately: 204. Ready media can no longer be downloaded, and is deleted after the answer: 202.",
    tags: ["media"],
    scope: "posts:write",
    params: IdParams,
    querystring: NoQuery,
    errors: ["media_in_use"],
    response: {
      202: { description: "The media is being deleted.", body: MediaDeletion },
      204: { description: "The media is deleted." },
    },
  });
  api.delete<{ Params: Params }>("/media/:id", remove, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const id = pathId(request);
    const { gone } = await media.deleteMedia({ workspaceId, id });
    if (gone) return reply.status(204).send();
    return reply.status(202).send({ id, status: "deleting" });
  });
}
