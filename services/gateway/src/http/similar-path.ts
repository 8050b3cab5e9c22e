/**
 * Maximum length, in characters, of an unknown path that is compared with the known paths. For a longer path, no
 * similar one is proposed.
 */
const MAX_LENGTH = 80;
/** Maximum number of characters in which an unknown path may differ from a known path that is proposed instead. */
const MAX_DISTANCE = 4;

/** Returns how many characters must be added, removed or replaced to turn one text into another. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, character] of Array.from(a).entries()) {
    const next = [index + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (b[column - 1] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Returns the known path that is most similar to a path; undefined if none is similar. */
export function findSimilarPath(path: string, known: Iterable<string>): string | undefined {
  if (path.length > MAX_LENGTH) return undefined;
  let best: { readonly path: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const found = distance(path, candidate);
    if (found <= MAX_DISTANCE && found < (best?.distance ?? Infinity))
      best = { path: candidate, distance: found };
  }
  return best?.path;
}
