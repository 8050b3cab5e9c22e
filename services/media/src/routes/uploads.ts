import type { IncomingMessage } from "node:http";
import type { PlainRoutes } from "@postrider/shared/connect/plain-routes";
import {
  conflict,
  invalidRequest,
  notFound,
  ServiceError,
  unavailable,
  unprocessable,
} from "@postrider/shared/errors";
import { watchUpload } from "@postrider/shared/http/long-transfers";
import { isId, newId } from "@postrider/shared/ids";
import { TRANSFER_RATE } from "@postrider/shared/limits/minimum-rate";
import type { Semaphore } from "@postrider/shared/limits/semaphore";
import { transferShares } from "@postrider/shared/limits/transfer-shares";
import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { findGrant, type Grant, hashUploadToken, spendGrant } from "#src/db/upload-grants.ts";
import { agreesWith, foldContentType } from "#src/domain/accepted-types.ts";
import { objectKey } from "#src/domain/object-keys.ts";
import { type BodyDigest, DigestCheck, parseContentDigest } from "#src/domain/transfer-headers.ts";
import type { RouteDependencies } from "#src/operations/dependencies.ts";

/** What the body must have, by the grant and the request's headers. */
interface DeclaredBody {
  readonly bytes: number;
  readonly digests: readonly BodyDigest[];
}

function tooLong(limit: number, actual: number): ServiceError {
  return new ServiceError("invalid", "payload_too_large", [
    { code: "payload_too_large", limit, actual },
  ]);
}

function tooShort(limit: number, actual: number): ServiceError {
  return invalidRequest([{ code: "media_length_mismatch", limit, actual }]);
}

function emptyBody(limit: number): ServiceError {
  return unprocessable("media_rejected", [{ code: "media_length_mismatch", limit, actual: 0 }]);
}

/**
 * Fails as soon as the body differs from its declaration; `fault` is what the client then gets. An
 * error without `fault` comes from the object store.
 */
class UploadBody {
  readonly #request: IncomingMessage;
  readonly #declared: DeclaredBody;
  fault: ServiceError | undefined;

  constructor(request: IncomingMessage, declared: DeclaredBody) {
    this.#request = request;
    this.#declared = declared;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { bytes, digests } = this.#declared;
    const check = new DigestCheck(digests);
    let received = 0;
    // The connection must stay open when reading ends early, because the client gets the error on
    // it.
    const chunks: AsyncIterable<Buffer> = this.#request.iterator({ destroyOnReturn: false });
    try {
      for await (const chunk of chunks) {
        received += chunk.length;
        if (received > bytes) throw tooLong(bytes, received);
        check.update(chunk);
        yield chunk;
      }
      if (received === 0) throw emptyBody(bytes);
      if (received < bytes) throw tooShort(bytes, received);
      if (!check.matches())
        throw invalidRequest([{ code: "invalid_header", path: "/Content-Digest" }]);
    } catch (error) {
      // Otherwise the connection is broken, and the client cannot receive an answer.
      this.fault = error instanceof ServiceError ? error : invalidRequest();
      throw this.fault;
    }
  }
}

/**
 * Gateways end slow uploads of their clients earlier: this rate ends those of gateways that have
 * disappeared.
 */
const RATE = { ...TRANSFER_RATE, stallMs: 2 * TRANSFER_RATE.stallMs };

const MAX_FOUND_CHARACTERS = 100;

interface UploadRequest {
  Params: { uploadPath: string };
}

/** `PUT /uploads/{uploadPath}` with the token in `x-upload-token`; a grant can be used once. */
export function createUploadRoutes(
  deps: RouteDependencies & { readonly permits: Semaphore },
): PlainRoutes {
  return (app) => {
    const options = { config: { callers: ["gateway", "operator"] } };
    app.put<UploadRequest>("/uploads/:uploadPath", options, async (request, reply) => {
      const grant = await readGrant(deps.sql, request.params.uploadPath, request.raw);
      const body = new UploadBody(request.raw, parseBody(grant, request.raw));
      const { workspaceId, mediaId } = grant;
      const shares = transferShares({ workspaceId, grant: mediaId });
      using _permit = await deps.permits.acquire({ shares });
      watchUpload(request.raw, reply.raw, RATE);
      if (await receive(deps, grant, body)) return await reply.status(204).send();
      // If another upload was accepted first, this throws `upload_already_received`; otherwise the
      // media were deleted.
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
  // Also when a check accepted an object that the client uploaded directly to the object store.
  if (grant.isUsed || grant.status !== "pending") throw conflict("upload_already_received");
  if (grant.isExpired) throw notFound();
  return grant;
}

/** @throws What the headers alone show, before any byte of the body is read. */
function parseBody(grant: Grant, request: IncomingMessage): DeclaredBody {
  const contentType = headerOf(request, "content-type") ?? "";
  if (!agreesWith(grant.contentType, contentType)) throw otherType(grant, contentType);
  const digestHeader = headerOf(request, "content-digest");
  const digests = digestHeader === undefined ? [] : parseContentDigest(digestHeader);
  if (digests === undefined)
    throw invalidRequest([{ code: "invalid_header", path: "/Content-Digest" }]);
  checkLength(grant, request);
  return { bytes: grant.bytes, digests };
}

/** A form, for example of `curl -F`, wraps the file. */
function otherType(grant: Grant, contentType: string): ServiceError {
  const found = foldContentType(contentType).slice(0, MAX_FOUND_CHARACTERS);
  const allowed = [grant.contentType];
  return new ServiceError("invalid", "unsupported_media_type", [
    { code: "upload_type_differs", found, allowed },
  ]);
}

function checkLength({ bytes }: Grant, { headers }: IncomingMessage): void {
  const isChunked = headers["transfer-encoding"] !== undefined;
  const length = Number(headers["content-length"] ?? (isChunked ? bytes : 0));
  if (length === 0) throw emptyBody(bytes);
  if (length > bytes) throw tooLong(bytes, length);
  if (length < bytes) throw tooShort(bytes, length);
}

/**
 * Writes a new object, then marks the grant as used; false when it has been used or deleted
 * meanwhile. Of concurrent uploads the first that marks it is accepted, the others delete their
 * objects. After a crash remove-orphans deletes the object.
 */
async function receive(deps: RouteDependencies, grant: Grant, body: UploadBody): Promise<boolean> {
  const { sql, store, logger, stopping } = deps;
  const key = objectKey(newId());
  try {
    await store.put(key, body, stopping);
  } catch (error) {
    if (body.fault !== undefined) throw body.fault;
    logger.warn(
      { err: error, step: "put" },
      "the bytes of an upload could not be written to the object store; check the object store",
    );
    throw unavailable(error);
  }
  failpoint("media.upload-stored");
  if (await spendGrant(sql, grant.mediaId, key)) return true;
  await store.delete(key);
  return false;
}
