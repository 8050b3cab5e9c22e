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
    : refuseParameter(`${name} is a number above 0.`);
}

/** A file below the smallest chunk is one chunk. */
function isSized({ size, chunkSize }: ChunkPlan): boolean {
  const isSmall = size < MIN_CHUNK_BYTES && chunkSize === size;
  return isSmall || (chunkSize >= MIN_CHUNK_BYTES && chunkSize <= MAX_CHUNK_BYTES);
}

/** The last chunk takes what is left over. */
function isCounted({ size, chunkSize, chunkCount }: ChunkPlan): boolean {
  const last = size - chunkSize * (chunkCount - 1);
  const isWhole = chunkCount === Math.floor(size / chunkSize);
  return isWhole && chunkCount <= MAX_CHUNKS && last <= MAX_LAST_CHUNK_BYTES;
}

/** The three numbers of an upload, which have to agree. */
export function chunkPlanOf(source: Fields): ChunkPlan {
  const plan: ChunkPlan = {
    size: countOf(source, "video_size"),
    chunkSize: countOf(source, "chunk_size"),
    chunkCount: countOf(source, "total_chunk_count"),
  };
  if (plan.size > MAX_VIDEO_BYTES) {
    refuseParameter("The video is too large.");
  }
  if (!isSized(plan)) {
    refuseParameter("The chunk size is invalid.");
  }
  return isCounted(plan) ? plan : refuseParameter("The total chunk count is invalid.");
}
