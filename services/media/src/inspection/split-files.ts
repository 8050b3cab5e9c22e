/**
 * Splits a stream of files that follow each other; `lengths` are the lengths of the files in bytes. Each call of `next` returns
 * the next file, which the caller reads to its end before the following call.
 */
export function splitFiles(
  content: AsyncIterable<Uint8Array>,
  lengths: readonly number[],
): { readonly next: () => AsyncGenerator<Uint8Array, void> } {
  const chunks = content[Symbol.asyncIterator]();
  const left = lengths.values();
  let rest: Uint8Array = new Uint8Array(0);
  async function* read(length: number): AsyncGenerator<Uint8Array, void> {
    for (let missing = length; missing > 0;) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done === true) throw new Error("the files are shorter than announced");
        rest = next.value;
      }
      const part = rest.subarray(0, missing);
      rest = rest.subarray(part.length);
      missing -= part.length;
      yield part;
    }
  }
  return { next: () => read(left.next().value ?? 0) };
}
