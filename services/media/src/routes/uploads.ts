import type { IncomingMessage } from "node:http";
import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import {
  conflict,
  invalidRequest,
  notFound,
  ServiceError,
  unavailable,
} from "@postrider/shared/errors";
import { isId, newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { findGrant, spendGrant, type Grant } from "#src/db/upload-grants.ts";
import { foldContentType } from "#src/domain/accepted-types.ts";
import { parseContentDigest } from "#src/domain/content-digest.ts";
import { objectKey } from "#src/domain/object-keys.ts";
import { hashUploadToken } from "#src/operations/upload-token.ts";
import {
  noBody,
  tooLong,
  tooShort,
  UploadBody,
  type PromisedBody,
} from "#src/routes/upload-body.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";

/** A sender that is silent for so long has gone. */
const IDLE_MS = 60_000;

export interface UploadRouteDeps {
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly logger: Logger;
  /** Ends uploads that would keep the process from stopping. */
  readonly stopping: AbortSignal;
}

/** `PUT /uploads/{uploadPath}` with the token in `x-upload-token`: takes the bytes of one grant, once. */
export function createUploadRoutes(deps: UploadRouteDeps): PlainRoutes {
  return (app) => {
    app.put<{ Params: { uploadPath: string } }>("/uploads/:uploadPath", async (request, reply) => {
      const grant = await readGrant(deps.sql, request.params.uploadPath, request.raw);
      const body = new UploadBody(request.raw, parseBody(grant, request.raw));
      request.raw.setTimeout(IDLE_MS, () => request.raw.destroy());
      if (await receive(deps, grant, body)) return await reply.status(204).send();
      // Another upload came first, or the media was deleted meanwhile.
      await readGrant(deps.sql, request.params.uploadPath, request.raw);
      throw notFound();
    });
  };
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

async function readGrant(sql: Sql, uploadPath: string, request: IncomingMessage): Promise<Grant> {
  const token = headerOf(request, "x-upload-token");
  if (token === undefined || !isId(uploadPath)) throw notFound();
  const grant = await findGrant(sql, uploadPath, hashUploadToken(token));
  if (grant === undefined || grant.status === "deleting") throw notFound();
  // Also when a check has taken what was uploaded to the store itself.
  if (grant.isUsed || grant.status !== "pending") throw conflict("upload_already_received");
  if (grant.isExpired) throw notFound();
  return grant;
}

/** What can be refused before a byte of the body is read. */
function parseBody(grant: Grant, request: IncomingMessage): PromisedBody {
  const contentType = headerOf(request, "content-type") ?? "";
  if (contentType !== "" && foldContentType(contentType) !== grant.contentType)
    throw new ServiceError("invalid", "unsupported_media_type");
  const digestHeader = headerOf(request, "content-digest");
  const digests = digestHeader === undefined ? [] : parseContentDigest(digestHeader);
  if (digests === undefined)
    throw invalidRequest([{ code: "invalid_header", path: "/Content-Digest" }]);
  checkLength(grant, request);
  return { bytes: grant.bytes, digests };
}

function checkLength({ bytes }: Grant, { headers }: IncomingMessage): void {
  const isChunked = headers["transfer-encoding"] !== undefined;
  const length = Number(headers["content-length"] ?? (isChunked ? bytes : 0));
  if (length === 0) throw noBody(bytes);
  if (length > bytes) throw tooLong(bytes, length);
  if (length < bytes) throw tooShort(bytes, length);
}

/**
 * Writes the body under a key of its own and then spends the grant on it. Of uploads at the same moment each writes its
 * own object, one is named by the media, and the others are removed: here, or after a crash by the job that removes
 * objects which nothing names.
 *
 * @returns false when the grant is spent by now, or gone.
 */
async function receive(deps: UploadRouteDeps, grant: Grant, body: UploadBody): Promise<boolean> {
  const { sql, store, logger, stopping } = deps;
  const key = objectKey(newId());
  try {
    await store.put(key, body, stopping);
  } catch (error) {
    if (body.fault !== undefined) throw body.fault;
    logger.warn({ err: error, step: "put" }, "the object store did not take an upload");
    throw unavailable(error);
  }
  failpoint("media.upload-stored");
  if (await spendGrant(sql, grant.mediaId, key)) return true;
  await store.delete(key);
  return false;
}
