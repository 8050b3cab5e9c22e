const GAP = "  ";

/**
 * Rows as aligned columns under headings.
 *
 * @param empty Said instead when there are no rows.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** One thing as lines of `name  value`, the values aligned. */
export function formatRecord(record: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record)
    .map(([name, value]) => `${name.padEnd(width)}${GAP}${value}`.trimEnd())
    .join("\n");
}
