import type { Patch } from "#src/domain/checked-media.ts";

interface Replacement {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** Writes over `chunk`, which begins at `position`, what `patches` say of it; a chunk that none touches is passed on as it is. */
function patchChunk(
  chunk: Uint8Array,
  position: number,
  patches: readonly Replacement[],
): Uint8Array {
  const end = position + chunk.length;
  const touching = patches.filter(
    ({ offset, bytes }) => offset < end && offset + bytes.length > position,
  );
  if (touching.length === 0) return chunk;
  const patched = Buffer.from(chunk);
  for (const { offset, bytes } of touching) {
    const from = Math.max(offset, position);
    const to = Math.min(offset + bytes.length, end);
    bytes.copy(patched, from - position, from - offset, to - offset);
  }
  return patched;
}

/**
 * Bytes of an object, from `start` on, with `patches` applied as they pass. Their number stays the same, so any part of
 * the object can be asked for.
 *
 * @param patches Offsets count from the object's first byte.
 */
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
