import { escapeCell } from "./escape-controls.ts";

const GAP = "  ";

/**
 * Formats rows as aligned columns under headings.
 *
 * @param empty The text for an empty list.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  empty: string,
): string {
  if (rows.length === 0) return empty;
  const cells = rows.map((row) => row.map(escapeCell));
  const lines = [headings.map((heading) => heading.toUpperCase()), ...cells];
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

/** Formats a record as lines of `name  value` with aligned values. */
export function formatRecord(record: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record)
    .map(([name, value]) => `${name.padEnd(width)}${GAP}${escapeCell(value)}`.trimEnd())
    .join("\n");
}
