import type { Cells } from "@postrider/shared/config/cells";
import type { DiagnosticCheck, Finding } from "@postrider/shared/diagnostics/finding";

type Result = Omit<Finding, "name">;

function compare({ addresses }: Cells, own: string, publicUrl: string): Result {
  const address = addresses.get(own);
  if (address !== undefined && address !== publicUrl)
    return {
      status: "failed",
      found: `CELL_ADDRESSES says that this cell, ${own}, is at ${address}, but PUBLIC_URL is ${publicUrl}: other cells send its clients to a wrong address`,
      remedy: "name the PUBLIC_URL of each cell in CELL_ADDRESSES, the same list in all cells",
    };
  const others = [...addresses.keys()].filter((cell) => cell !== own);
  const known = others.length === 0 ? "no other" : others.join(", ");
  return { status: "ok", found: `this is the cell ${own}; it knows ${known}` };
}

/** None in an installation without cells. */
export function createCellChecks(cells: Cells, publicUrl: string): readonly DiagnosticCheck[] {
  const { own } = cells;
  if (own === undefined) return [];
  const run = () => Promise.resolve(compare(cells, own, publicUrl));
  return [{ name: "cell", remedy: "", guide: "scale.md", run }];
}
