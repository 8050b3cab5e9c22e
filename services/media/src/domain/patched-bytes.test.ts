import fc from "fast-check";
import { expect, test } from "vitest";
import { patchBytes } from "#src/domain/patched-bytes.ts";

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

test("a range of a file that is patched while it is read, in chunks of any size, equals this range of the whole patched file", async () => {
  const total = 60;
  const patch = fc.record({
    offset: fc.nat(total - 1),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(patch, { maxLength: 4 }),
      fc.nat(total - 1),
      fc.integer({ min: 1, max: total }),
      fc.integer({ min: 1, max: 70 }),
      async (drawn, start, length, size) => {
        const source = Buffer.from(Array.from({ length: total }, (_, index) => index));
        const patches = drawn.map(({ offset, bytes }) => ({
          offset,
          bytes: Buffer.from(bytes.subarray(0, total - offset)),
        }));
        const whole = Buffer.from(source);
        for (const { offset, bytes } of patches) bytes.copy(whole, offset);

        const part = source.subarray(start, start + length);
        const patched = await collect(
          patchBytes(
            inChunks(part, size),
            start,
            patches.map(({ offset, bytes }) => ({ offset, bytes: bytes.toString("base64") })),
          ),
        );

        expect(patched).toEqual(whole.subarray(start, start + length));
        expect([...source]).toEqual(Array.from({ length: total }, (_, index) => index));
      },
    ),
  );
});
