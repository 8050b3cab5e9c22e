import type { Patch } from "./inspected-media.ts";

interface Replacement {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** `position` is the offset of the chunk in the object. */
function patchChunk(
  chunk: Uint8Array,
  position: number,
  patches: readonly Replacement[],
): Uint8Array {
  const end = position + chunk.length;
  const overlapping = patches.filter(
    ({ offset, bytes }) => offset < end && offset + bytes.length > position,
  );
  if (overlapping.length === 0) return chunk;
  const patched = Buffer.from(chunk);
  for (const { offset, bytes } of overlapping) {
    const from = Math.max(offset, position);
    const to = Math.min(offset + bytes.length, end);
    bytes.copy(patched, from - position, from - offset, to - offset);
  }
  return patched;
}

/** Applies patches to a stream that begins at `start` in the object. The length stays the same. */
export async function* patchBytes(
  content: AsyncIterable<Uint8Array>,
  start: number,
  patches: readonly Patch[],
): AsyncGenerator<Uint8Array> {
  const replacements = patches.map(({ offset, bytes }) => ({
    offset,
    bytes: Buffer.from(bytes, "base64"),
  }));
  let position = start;
  for await (const chunk of content) {
    yield patchChunk(chunk, position, replacements);
    position += chunk.length;
  }
}
