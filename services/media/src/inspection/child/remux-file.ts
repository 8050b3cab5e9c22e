import { fstatSync, readSync } from "node:fs";
import type { RenditionOutcome } from "#src/domain/rendition-plan.ts";
import { readMp4 } from "#src/domain/videos/mp4.ts";
import { remuxMp4, type RemuxedMp4 } from "#src/domain/videos/remux-mp4.ts";
import {
  INPUT_FD,
  type RenderRequest,
  type RenderResult,
} from "#src/inspection/inspection-protocol.ts";
import { openByteSource, OutputFile } from "./open-file.ts";
import { refusing } from "./refusing.ts";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Writes an MP4 with unchanged streams and its index in front, once for each plan. Only the index
 * is held in memory.
 */
export async function remuxFile(
  { plans }: RenderRequest,
  onProgress: () => void,
): Promise<RenderResult> {
  const source = openByteSource(INPUT_FD, fstatSync(INPUT_FD).size);
  const found = await refusing(() => {
    const { width, height } = readMp4(source);
    return Promise.resolve({ width, height, file: remuxMp4(source) });
  });
  if (found.kind === "refused") return refuseAll(plans.length, found);
  const { file, width, height } = found.value;
  if (file === undefined) return refuseAll(plans.length, { kind: "refused", refusal: "container" });
  const output = new OutputFile();
  for (const _plan of plans) copy(file, output, onProgress);
  const made = {
    kind: "made",
    contentType: "video/mp4",
    width,
    height,
    bytes: file.bytes,
  } as const;
  return { outcomes: plans.map(() => made) };
}

function refuseAll(count: number, outcome: RenditionOutcome): RenderResult {
  return { outcomes: Array.from({ length: count }, () => outcome) };
}

function copy({ head, ranges }: RemuxedMp4, output: OutputFile, onProgress: () => void): void {
  output.append(head);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (const { offset, bytes } of ranges)
    for (let done = 0; done < bytes;) {
      const read = readSync(INPUT_FD, chunk, 0, Math.min(CHUNK_BYTES, bytes - done), offset + done);
      if (read === 0) throw new Error("the file changed while it was read");
      output.append(chunk.subarray(0, read));
      done += read;
      onProgress();
    }
}
