import type { IncomingMessage } from "node:http";
import { invalidRequest, ServiceError, unprocessable } from "@postrider/shared/errors";
import { notePassingBytes } from "@postrider/shared/process/passing-bytes";
import { DigestCheck, type BodyDigest } from "#src/domain/content-digest.ts";

/** What a body was promised to be. */
export interface PromisedBody {
  readonly bytes: number;
  readonly digests: readonly BodyDigest[];
}

/** The body is longer than what was declared. */
export function tooLong(limit: number, actual: number): ServiceError {
  return new ServiceError("invalid", "payload_too_large", [
    { code: "payload_too_large", limit, actual },
  ]);
}

/** The body ended before what was declared had come. */
export function tooShort(limit: number, actual: number): ServiceError {
  return invalidRequest([{ code: "media_length_mismatch", limit, actual }]);
}

/** There is no body. */
export function noBody(limit: number): ServiceError {
  return unprocessable("media_rejected", [{ code: "media_length_mismatch", limit, actual: 0 }]);
}

/**
 * The body of an upload while it arrives. It fails, and with it what is being written, as soon as the body turns out to
 * be another than the one promised; `fault` then says why.
 */
export class UploadBody {
  readonly #request: IncomingMessage;
  readonly #promised: PromisedBody;
  fault: ServiceError | undefined;

  constructor(request: IncomingMessage, promised: PromisedBody) {
    this.#request = request;
    this.#promised = promised;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const { bytes, digests } = this.#promised;
    const check = new DigestCheck(digests);
    let received = 0;
    // The connection stays open when reading stops: the answer has to go out on it.
    const chunks: AsyncIterable<Buffer> = this.#request.iterator({ destroyOnReturn: false });
    try {
      for await (const chunk of chunks) {
        received += chunk.length;
        notePassingBytes(chunk.length);
        if (received > bytes) throw tooLong(bytes, received);
        check.update(chunk);
        yield chunk;
      }
      if (received === 0) throw noBody(bytes);
      if (received < bytes) throw tooShort(bytes, received);
      if (!check.matches())
        throw invalidRequest([{ code: "invalid_header", path: "/Content-Digest" }]);
    } catch (error) {
      // Whatever else ends a body is a connection that broke: nobody reads the answer.
      this.fault = error instanceof ServiceError ? error : invalidRequest();
      throw this.fault;
    }
  }
}
