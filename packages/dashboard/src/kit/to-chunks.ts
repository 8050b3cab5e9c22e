/** Rows that are drawn at once where a part of the list comes near to what is seen. */
const MAX_ROWS = 4;
/** Of the last characters of ids, which are hexadecimal: one row of four begins a chunk. */
const BEGINS = /[048c]$/;

export interface Chunk<T> {
  readonly rows: readonly T[];
  /** The place of its first row in the list. */
  readonly from: number;
}

/**
 * Divides the rows of a list into runs that are drawn and removed together. Which row begins one
 * depends on its id, so that a row which comes or goes moves only its neighbours into another run:
 * a row that is moved is drawn anew and loses the focus. `idOf` gives undefined for what stands
 * between rows.
 */
export function toChunks<T>(
  rows: readonly T[],
  idOf: (row: T) => string | undefined,
): readonly Chunk<T>[] {
  const chunks: { rows: T[]; from: number }[] = [];
  for (const [from, row] of rows.entries()) {
    const last = chunks.at(-1)?.rows;
    const id = idOf(row);
    const isFirst = id !== undefined && (BEGINS.test(id) || (last?.length ?? 0) >= MAX_ROWS);
    if (last === undefined || isFirst) chunks.push({ rows: [row], from });
    else last.push(row);
  }
  return chunks;
}
