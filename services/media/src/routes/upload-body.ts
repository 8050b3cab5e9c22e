import type { IncomingMessage } from "node:http";
import { invalidRequest, ServiceError, unprocessable } from "@postrider/shared/errors";
import { DigestCheck, type BodyDigest } from "#src/domain/content-digest.ts";

/**
 * The length, type and digests that the body of an upload must have, according to the upload grant and the request's
 * headers.
 */
export interface DeclaredBody {
  readonly bytes: number;
  readonly digests: readonly BodyDigest[];
}

/** Creates the error for an upload whose body is longer than declared. */
export function tooLong(limit: number, actual: number): ServiceError {
  return new ServiceError("invalid", "payload_too_large", [
    { code: "payload_too_large", limit, actual },
  ]);
}

/** Creates the error for an upload whose body is shorter than declared. */
export function tooShort(limit: number, actual: number): ServiceError {
  return invalidRequest([{ code: "media_length_mismatch", limit, actual }]);
}

/** Creates the error for an upload with an empty body. */
export function emptyBody(limit: number): ServiceError {
  return unprocessable("media_rejected", [{ code: "media_length_mismatch", limit, actual: 0 }]);
}

/**
 * Reads the body of an upload, and fails as soon as the body differs from its declaration. `fault` is then the error
 * that the client gets. An error without `fault` comes from the object store.
 */
export class UploadBody {
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
    // When this code stops reading the request early, the connection must stay open, because the client gets the error on it.
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
      // An error that is not a ServiceError means that the connection of the upload is broken, so the client cannot receive
      // an answer.
      this.fault = error instanceof ServiceError ? error : invalidRequest();
      throw this.fault;
    }
  }
}
