import { describe, expect, test } from "vitest";
import { CHUNK_SIZES, planChunks } from "./chunk-plan.ts";

const MIB = 1024 * 1024;

describe("planChunks", () => {
  test("a TikTok video of up to 64 MB is first sent as one chunk", () => {
    expect(planChunks(64_000_000, CHUNK_SIZES)).toEqual([
      { chunkBytes: 64_000_000, chunkCount: 1 },
      { chunkBytes: 10 * MIB, chunkCount: 6 },
      { chunkBytes: 32 * MIB, chunkCount: 1 },
    ]);
  });

  test("a TikTok video of more than 64 MB is divided into chunks of 10 MiB, and into larger ones if TikTok refuses these", () => {
    expect(planChunks(100 * MIB, CHUNK_SIZES)).toEqual([
      { chunkBytes: 10 * MIB, chunkCount: 10 },
      { chunkBytes: 32 * MIB, chunkCount: 3 },
      { chunkBytes: 64_000_000, chunkCount: 1 },
    ]);
  });

  test("a TikTok video smaller than every chunk size is sent only as one chunk", () => {
    expect(planChunks(1000, CHUNK_SIZES)).toEqual([{ chunkBytes: 1000, chunkCount: 1 }]);
  });
});
