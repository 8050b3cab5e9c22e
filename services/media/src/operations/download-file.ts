import {
  invalidRequest,
  ServiceError,
  unprocessable,
  type Violation,
} from "@postrider/shared/errors";
import type { OutboundClient } from "@postrider/shared/http/outbound-client";
import { OutboundError } from "@postrider/shared/http/outbound-error";
import type { OutboundAnswer } from "@postrider/shared/http/outbound-exchange";
import { TRANSFER_RATE, type MinimumRate } from "@postrider/shared/limits/minimum-rate";
import type { SizeLimits } from "#src/domain/accepted-types.ts";
import { connectionReason, hasNoAddress } from "#src/domain/connection-failure.ts";
import { startsLikeVideo, VIDEO_START_BYTES } from "#src/domain/videos/video-start.ts";
import { atMinimumRate, TooSlowError } from "#src/storage/at-minimum-rate.ts";
import { writeNewFile } from "#src/storage/write-new-file.ts";

const MAX_REDIRECTS = 3;
/**
 * Maximum time that a download may continue without receiving a byte. Then the download fails, because other downloads may wait
 * for the disk space that it holds.
 */
const STALL_MS = 10_000;

export interface Download {
  readonly url: string;
  /** Path to which the file is downloaded. It must not exist yet. */
  readonly path: string;
  readonly limits: SizeLimits;
  /** Time limit of the download, from the DNS lookup to the last byte. */
  readonly totalMs: number;
  readonly signal: AbortSignal;
  /**
   * Waits until disk space for a file of up to `bytes` bytes is reserved. It is called once, before the file is
   * written.
   */
  readonly reserve: (bytes: number) => Promise<void>;
}

/**
 * Downloads a file from a URL that a customer provided. A file whose first bytes are those of a video may have the
 * maximum size of a video, any other file the maximum size of an image.
 *
 * @returns The header `Content-Type` of the answer.
 * @throws `invalid_request`, `address_not_allowed`, `import_failed`, `media_rejected`, the signal's reason, or an error of
 *   `reserve` or of the disk.
 */
export async function downloadFile(
  client: Pick<OutboundClient, "send">,
  download: Download,
): Promise<string> {
  const { url, path, totalMs, signal } = download;
  try {
    await using answer = await client.send({
      method: "GET",
      url,
      redirects: MAX_REDIRECTS,
      totalMs,
      signal,
    });
    if (answer.status !== 200)
      throw importFailed([{ code: "download_refused", path: "/url", status: `${answer.status}` }]);
    if (isEncoded(answer)) throw broken("the server sent an encoded file");
    const announced = announcedBytes(answer);
    const body = withMinimumRate(answer.body, minimumRate(announced, totalMs));
    await writeNewFile(path, limitBytes(body, announced, download), { bufferBytes: 256 * 1024 });
    return [answer.headers["content-type"]].flat()[0] ?? "";
  } catch (error) {
    throw error instanceof OutboundError ? toServiceError(error, url) : error;
  }
}

function importFailed(violations: readonly Violation[], cause?: unknown): ServiceError {
  return new ServiceError("unprocessable", "import_failed", violations, { cause });
}

/** @param reason What customers read; it must not reveal what exists in our network. */
function broken(reason: string, cause?: unknown): ServiceError {
  return importFailed([{ code: "download_broken", path: "/url", reason }], cause);
}

function invalidUrl(url: string): ServiceError {
  const parsed = URL.parse(url);
  const hasUser = parsed !== null && `${parsed.username}${parsed.password}` !== "";
  const expected = hasUser ? { expected: "the URL without a user name and password" } : {};
  return invalidRequest([{ code: "invalid", path: "/url", ...expected }]);
}

function toServiceError(error: OutboundError, url: string): ServiceError {
  if (error.failure === "url_invalid") return invalidUrl(url);
  if (error.failure === "address_not_allowed")
    return unprocessable("address_not_allowed", [{ code: "address_not_allowed", path: "/url" }]);
  // A name without an address gets the same answer as one with a private address: the difference would tell which internal
  // names exist.
  if (error.failure === "unreachable" && hasNoAddress(error))
    return unprocessable("address_not_allowed", [{ code: "address_not_allowed", path: "/url" }]);
  const known = error.failure === "unreachable" ? connectionReason(error) : undefined;
  return broken(known ?? error.message, error);
}

/**
 * Whether the body of the response is encoded (compressed). The request asks for unencoded bytes, and an encoded
 * response could be a decompression bomb.
 */
function isEncoded({ headers }: OutboundAnswer): boolean {
  const codings = [headers["content-encoding"], headers["transfer-encoding"]]
    .flat()
    .flatMap((value) => value?.split(",") ?? [])
    .map((coding) => coding.trim().toLowerCase());
  return codings.some((coding) => !["", "identity", "chunked"].includes(coding));
}

/**
 * Returns the value of the response's `Content-Length`, or 0 without it. The HTTP client rejects a body that is shorter
 * or longer.
 */
function announcedBytes({ headers }: OutboundAnswer): number {
  const length = Number(headers["content-length"] ?? 0);
  return Number.isSafeInteger(length) ? length : 0;
}

/**
 * Returns the minimum rate at which a download must arrive: one at which `announced` bytes arrive within `totalMs`, and never
 * less than the minimum rate of uploads. `announced` is 0 when the length is unknown.
 */
function minimumRate(announced: number, totalMs: number): MinimumRate {
  const bytesPerSecond = Math.max(TRANSFER_RATE.bytesPerSecond, (announced * 1000) / totalMs);
  return { bytesPerSecond, stallMs: STALL_MS };
}

/** Yields the bytes of a download. @throws `import_failed` when they arrive below the minimum rate. */
async function* withMinimumRate(
  body: AsyncIterable<Uint8Array>,
  rate: MinimumRate,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* atMinimumRate(body, rate);
  } catch (error) {
    throw error instanceof TooSlowError ? broken("the file arrived too slowly", error) : error;
  }
}

async function* limitBytes(
  body: AsyncIterable<Uint8Array>,
  announced: number,
  { limits, reserve }: Pick<Download, "limits" | "reserve">,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  let limit: number | undefined;
  let start = new Uint8Array();
  for await (const chunk of body) {
    bytes += chunk.length;
    if (start.length < VIDEO_START_BYTES)
      start = Buffer.concat([start, chunk.subarray(0, VIDEO_START_BYTES - start.length)]);
    if (limit === undefined && start.length >= VIDEO_START_BYTES) {
      limit = startsLikeVideo(start) ? limits.maxVideoBytes : limits.maxImageBytes;
      assertWithin(Math.max(bytes, announced), limit);
      // The HTTP client rejects a body that is longer than its `Content-Length`, so no more disk space needs to be
      // reserved.
      await reserve(announced === 0 ? limit : announced);
    }
    assertWithin(bytes, limit);
    yield chunk;
  }
}

function assertWithin(actual: number, limit = Number.POSITIVE_INFINITY): void {
  if (actual > limit)
    throw unprocessable("media_rejected", [{ code: "media_too_large", limit, actual }]);
}
