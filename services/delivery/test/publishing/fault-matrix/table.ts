import { nameRow, ROWS, type Row } from "./cases.ts";
import { FAULTS, isApplicable, type Fault } from "./faults.ts";
import { RESULTS, type Judged, type Result } from "./rounds.ts";

const BEGIN = "<!-- fault matrix: written by `npm run fault-matrix` -->";
const END = "<!-- end of the fault matrix -->";
const NOTHING = "–";

/** Text that a cell of the fault matrix shows after the number of targets with this result. */
const SIGNS: Readonly<Record<Result, string>> = {
  published: "",
  failed: " failed",
  unknown: "?",
  twice: " TWICE",
  lost: " LOST",
};

function toCell(judged: readonly Judged[]): string {
  const counts = Map.groupBy(judged, ({ judgement }) => judgement.result);
  return RESULTS.filter((result) => counts.has(result))
    .map((result) => `${counts.get(result)?.length}${SIGNS[result]}`)
    .join(" + ");
}

function nameCell(row: Row, fault: Fault): string {
  return `${nameRow(row)} ${fault.name}`;
}

function toLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

export interface Totals {
  readonly judged: readonly Judged[];
  /**
   * Number of publish tasks that were in their publishing call, or just before sending it, when the
   * signal was sent.
   */
  readonly caught: Readonly<Record<"kill" | "stop", number>>;
}

function toSummary({ judged, caught }: Totals): string {
  const counts = Map.groupBy(judged, ({ judgement }) => judgement.result);
  const words = RESULTS.map((result) => `${counts.get(result)?.length ?? 0} ${result}`).join(", ");
  const [killed, stopped] = (["kill", "stop"] as const).map(
    (by) => `${caught[by]} of ${judged.filter(({ round }) => round.fault.by === by).length}`,
  );
  return `${judged.length} targets: ${words}. The kills met ${killed} in the call, the stops ${stopped} between mark and send; the others were some steps before or after it.`;
}

function toTable(totals: Totals): string {
  const cells = Map.groupBy(totals.judged, ({ round }) => nameCell(round.row, round.fault));
  const rows = ROWS.map((row) =>
    toLine([
      nameRow(row),
      ...FAULTS.map((fault) =>
        isApplicable(fault, row.step) ? toCell(cells.get(nameCell(row, fault)) ?? []) : NOTHING,
      ),
    ]),
  );
  const heads = ["platform", "kind", "step", ...FAULTS.map(({ name }) => name)];
  return [
    toSummary(totals),
    "",
    toLine(heads),
    toLine(heads.map((_head, index) => (index < 3 ? "---" : "---:"))),
    ...rows,
  ].join("\n");
}

/** Replaces the fault matrix between the two markers in the text of docs/guarantees.md. */
export function replaceTable(document: string, totals: Totals): string {
  const [before, rest] = [document.split(BEGIN)[0], document.split(END)[1]];
  if (before === undefined || rest === undefined) throw new Error("the document has no markers");
  return `${before}${BEGIN}\n\n${toTable(totals)}\n\n${END}${rest}`;
}

export interface WrittenTable {
  readonly summary: string;
  readonly heads: readonly string[];
  /** The cells of the fault matrix by the name of their row. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
}

/** Parses the fault matrix in the text of docs/guarantees.md. */
export function readTable(document: string): WrittenTable {
  const lines = (document.split(BEGIN)[1]?.split(END)[0] ?? "").trim().split("\n");
  const [summary = "", ...table] = lines.filter((line) => line !== "");
  const [heads = [], , ...rows] = table.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return {
    summary,
    heads: heads.slice(3),
    rows: new Map(rows.map((cells) => [cells.slice(0, 3).join(" | "), cells.slice(3)])),
  };
}
