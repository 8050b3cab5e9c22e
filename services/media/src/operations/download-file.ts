import {
  invalidRequest,
  ServiceError,
  unprocessable,
  type Violation,
} from "@postrider/shared/errors";
import type { OutboundClient } from "@postrider/shared/http/outbound-client";
import { type OutboundAnswer, OutboundError } from "@postrider/shared/http/outbound-exchange";
import { TRANSFER_RATE, type MinimumRate } from "@postrider/shared/limits/minimum-rate";
import type { SizeLimits } from "#src/domain/accepted-types.ts";
import { connectionReason, hasNoAddress } from "#src/domain/download-failure.ts";
import { startsLikeVideo, VIDEO_START_BYTES } from "#src/domain/real-content-type.ts";
import { atMinimumRate, TooSlowError } from "#src/storage/at-minimum-rate.ts";
import type { SpaceRequest } from "#src/storage/temp-space.ts";
import { writeNewFile } from "#src/storage/write-new-file.ts";

const MAX_REDIRECTS = 3;
/** Other downloads may wait for the disk space that this one holds. */
const STALL_MS = 10_000;
/**
 * Space for a file of unknown length is reserved in parts of this size. A slow download would
 * otherwise hold the space of the largest video.
 */
const PART_BYTES = 32_000_000;

export interface Download {
  readonly url: string;
  /** It must not exist yet. */
  readonly path: string;
  readonly limits: SizeLimits;
  readonly totalMs: number;
  readonly signal: AbortSignal;
  /** Waits for disk space before bytes are written. */
  readonly reserve: (space: Pick<SpaceRequest, "bytes" | "part">) => Promise<void>;
}

/**
 * A file whose first bytes are those of a video may have the size of a video, any other that of an
 * image.
 *
 * @returns The header `Content-Type`.
 * @throws `invalid_request`, `address_not_allowed`, `import_failed`, `media_rejected`, the signal's
 *   reason, or an error of `reserve` or the disk.
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
  // Gets the same answer as a private address: the difference would tell which internal names
  // exist.
  if (error.failure === "unreachable" && hasNoAddress(error))
    return unprocessable("address_not_allowed", [{ code: "address_not_allowed", path: "/url" }]);
  const known = error.failure === "unreachable" ? connectionReason(error) : undefined;
  return broken(known ?? error.message, error);
}

/** We ask for unencoded bytes, and an encoded answer could be a decompression bomb. */
function isEncoded({ headers }: OutboundAnswer): boolean {
  const codings = [headers["content-encoding"], headers["transfer-encoding"]]
    .flat()
    .flatMap((value) => value?.split(",") ?? [])
    .map((coding) => coding.trim().toLowerCase());
  return codings.some((coding) => !["", "identity", "chunked"].includes(coding));
}

/** 0 without `Content-Length`. The HTTP client rejects a body that is shorter or longer. */
function announcedBytes({ headers }: OutboundAnswer): number {
  const length = Number(headers["content-length"] ?? 0);
  return Number.isSafeInteger(length) ? length : 0;
}

/**
 * So fast that `announced` bytes arrive in time, and never slower than uploads. `announced` is 0
 * when unknown.
 */
function minimumRate(announced: number, totalMs: number): MinimumRate {
  const bytesPerSecond = Math.max(TRANSFER_RATE.bytesPerSecond, (announced * 1000) / totalMs);
  return { bytesPerSecond, stallMs: STALL_MS };
}

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
  let reserved = 0;
  let limit: number | undefined;
  let start = new Uint8Array();
  for await (const chunk of body) {
    bytes += chunk.length;
    if (start.length < VIDEO_START_BYTES)
      start = Buffer.concat([start, chunk.subarray(0, VIDEO_START_BYTES - start.length)]);
    if (limit === undefined && start.length >= VIDEO_START_BYTES) {
      limit = startsLikeVideo(start) ? limits.maxVideoBytes : limits.maxImageBytes;
      assertWithin(announced, limit);
    }
    assertWithin(bytes, limit);
    if (limit !== undefined && bytes > reserved) {
      const length = announced === 0 ? limit : announced;
      const next = Math.min(announced === 0 ? PART_BYTES : announced, length - reserved);
      const part = { bytes: Math.max(next, bytes - reserved), isFirst: reserved === 0 };
      await reserve({ bytes: length, part });
      reserved += part.bytes;
    }
    yield chunk;
  }
}

function assertWithin(actual: number, limit = Number.POSITIVE_INFINITY): void {
  if (actual > limit)
    throw unprocessable("media_rejected", [{ code: "media_too_large", limit, actual }]);
}
