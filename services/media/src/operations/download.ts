import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { invalidRequest, ServiceError, unprocessable } from "@postrider/shared/errors";
import type { OutboundClient } from "@postrider/shared/http/outbound-client";
import { OutboundError } from "@postrider/shared/http/outbound-error";
import type { OutboundAnswer } from "@postrider/shared/http/outbound-exchange";
import type { SizeLimits } from "#src/domain/accepted-types.ts";
import { beginsLikeFilm, FILM_START_BYTES } from "#src/domain/film-start.ts";

const MAX_REDIRECTS = 3;

export interface Download {
  readonly url: string;
  /** Where the bytes go; there must be no such file yet. */
  readonly path: string;
  readonly limits: SizeLimits;
  /** For everything, from the first look-up to the last byte. */
  readonly totalMs: number;
  readonly signal: AbortSignal;
}

/**
 * Downloads a file from an address that a customer named: as many bytes as an image may have, or, when it begins like
 * one, as a film may.
 *
 * @throws `invalid_request`, `address_not_allowed`, `import_failed`, `media_rejected`, or the signal's reason.
 */
export async function download(client: OutboundClient, request: Download): Promise<void> {
  const { url, path, limits, totalMs, signal } = request;
  try {
    await using answer = await client.send({
      method: "GET",
      url,
      redirects: MAX_REDIRECTS,
      totalMs,
      signal,
    });
    if (answer.status !== 200 || isEncoded(answer)) throw importFailed();
    const file = createWriteStream(path, { flags: "wx", mode: 0o600, highWaterMark: 256 * 1024 });
    await pipeline(boundBytes(answer.body, announcedBytes(answer), limits), file);
  } catch (error) {
    throw error instanceof OutboundError ? toServiceError(error) : error;
  }
}

function importFailed(cause?: unknown): ServiceError {
  return new ServiceError("unprocessable", "import_failed", [], { cause });
}

function toServiceError(error: OutboundError): ServiceError {
  if (error.failure === "url_invalid") return invalidRequest([{ code: "invalid", path: "/url" }]);
  if (error.failure === "address_not_allowed")
    return unprocessable("address_not_allowed", [{ code: "address_not_allowed", path: "/url" }]);
  return importFailed(error);
}

/** We ask for the bytes as they are; a server that compresses all the same could send a bomb. */
function isEncoded({ headers }: OutboundAnswer): boolean {
  const codings = [headers["content-encoding"], headers["transfer-encoding"]]
    .flat()
    .flatMap((value) => value?.split(",") ?? [])
    .map((coding) => coding.trim().toLowerCase());
  return codings.some((coding) => !["", "identity", "chunked"].includes(coding));
}

/** What the answer says that it has; a shorter one is cut, a longer one cannot be. */
function announcedBytes({ headers }: OutboundAnswer): number {
  const length = Number(headers["content-length"] ?? 0);
  return Number.isSafeInteger(length) ? length : 0;
}

async function* boundBytes(
  body: AsyncIterable<Uint8Array>,
  announced: number,
  limits: SizeLimits,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  let limit: number | undefined;
  let start = new Uint8Array();
  for await (const chunk of body) {
    bytes += chunk.length;
    if (start.length < FILM_START_BYTES)
      start = Buffer.concat([start, chunk.subarray(0, FILM_START_BYTES - start.length)]);
    if (limit === undefined && start.length >= FILM_START_BYTES)
      limit = beginsLikeFilm(start) ? limits.maxVideoBytes : limits.maxImageBytes;
    assertWithin(Math.max(bytes, limit === undefined ? 0 : announced), limit);
    yield chunk;
  }
}

function assertWithin(actual: number, limit = Number.POSITIVE_INFINITY): void {
  if (actual > limit)
    throw unprocessable("media_rejected", [{ code: "media_too_large", limit, actual }]);
}
