/** As many rows come into view with one turn of a wheel. */
const MAX_ROWS = 8;
/** Of the last characters of ids, which are hexadecimal: one row of eight begins a chunk. */
const BEGINS = /[08]$/;

/**
 * Divides the rows of a list into runs that the browser lays out together. Which row begins one
 * depends on its id, so that a row which comes or goes moves only its neighbours into another run:
 * a row that is moved is drawn anew and loses the focus. `idOf` gives undefined for what stands
 * between rows.
 */
export function toChunks<T>(
  rows: readonly T[],
  idOf: (row: T) => string | undefined,
): readonly (readonly T[])[] {
  const chunks: T[][] = [];
  let count = 0;
  for (const row of rows) {
    const last = chunks.at(-1);
    const id = idOf(row);
    const isFirst = id !== undefined && (count >= MAX_ROWS || BEGINS.test(id));
    if (isFirst) count = 0;
    if (id !== undefined) count += 1;
    if (last === undefined || isFirst) chunks.push([row]);
    else last.push(row);
  }
  return chunks;
}
