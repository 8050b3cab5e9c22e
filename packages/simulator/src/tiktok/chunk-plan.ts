import { refuseParameter } from "#src/tiktok/errors.ts";
import type { Upload } from "#src/tiktok/publishes.ts";

type Fields = Readonly<Record<string, unknown>>;
type ChunkPlan = Pick<Upload, "size" | "chunkSize" | "chunkCount">;

const MIN_CHUNK_BYTES = 5 * 1024 * 1024;
const MAX_CHUNK_BYTES = 64_000_000;
const MAX_LAST_CHUNK_BYTES = 128_000_000;
const MAX_VIDEO_BYTES = 4_000_000_000;
const MAX_CHUNKS = 1000;

function countOf(fields: Fields, name: string): number {
  const value = fields[name];
  return Number.isInteger(value) && Number(value) > 0
    ? Number(value)
    : refuseParameter(`${name} must be a positive integer.`);
}

/** A file smaller than the smallest chunk must be sent as one chunk. */
function isChunkSizeAllowed({ size, chunkSize }: ChunkPlan): boolean {
  const isSmall = size < MIN_CHUNK_BYTES && chunkSize === size;
  return isSmall || (chunkSize >= MIN_CHUNK_BYTES && chunkSize <= MAX_CHUNK_BYTES);
}

/** The last chunk also contains the bytes that do not fill a chunk of their own. */
function isChunkCountRight({ size, chunkSize, chunkCount }: ChunkPlan): boolean {
  const last = size - chunkSize * (chunkCount - 1);
  const isWhole = chunkCount === Math.floor(size / chunkSize);
  return isWhole && chunkCount <= MAX_CHUNKS && last <= MAX_LAST_CHUNK_BYTES;
}

/** `wholeBytes` = size up to which a video must be sent as one chunk. */
export function chunkPlanOf(source: Fields, wholeBytes: number): ChunkPlan {
  const plan: ChunkPlan = {
    size: countOf(source, "video_size"),
    chunkSize: countOf(source, "chunk_size"),
    chunkCount: countOf(source, "total_chunk_count"),
  };
  if (plan.size > MAX_VIDEO_BYTES) refuseParameter("The video is too large.");

  const isDivided = plan.size <= wholeBytes && plan.chunkSize < plan.size;
  if (isDivided || !isChunkSizeAllowed(plan)) refuseParameter("The chunk size is invalid.");

  return isChunkCountRight(plan) ? plan : refuseParameter("The total chunk count is invalid.");
}
