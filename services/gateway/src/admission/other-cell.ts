import type { AdmitResponse } from "@postrider/contracts/accounts/v1/admission_service_pb";
import type { Cells } from "@postrider/shared/config/cells";
import { parseApiKey } from "@postrider/shared/secrets/api-keys";
import { FRESH_MS } from "#src/admission/known-keys.ts";

export interface OtherCell {
  readonly cell: string;
  /** Undefined if this installation does not know the cell. */
  readonly cellAddress: string | undefined;
}

export function toOtherCell(cell: string, { addresses }: Cells): OtherCell {
  return { cell, cellAddress: addresses.get(cell) };
}

/**
 * Returns the cell of an API key if another cell has issued it. An installation without cells looks
 * up every key: those that it issued as a cell stay good.
 */
export function findOtherCell(key: string, cells: Cells): OtherCell | undefined {
  const cell = parseApiKey(key)?.cell;
  if (cells.own === undefined || cell === undefined || cell === cells.own) return undefined;
  return toOtherCell(cell, cells);
}

/**
 * Which other cells have no key here. A moved workspace brings the keys of its old cell along, so
 * such a key may be known; but from almost every other cell no workspace ever came, and then one
 * look-up in two seconds answers for all keys of that cell. Bounded by the cells that have an
 * address.
 */
export class CellKeys {
  readonly #cells: Cells;
  readonly #strangeUntil = new Map<string, number>();

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  /** Whether the key is of a cell none of whose keys needs to be looked up. */
  isStrange(key: string, now: number): boolean {
    const other = findOtherCell(key, this.#cells);
    if (other === undefined) return false;
    return other.cellAddress === undefined || now < (this.#strangeUntil.get(other.cell) ?? 0);
  }

  /** Takes over what the accounts service said with the unknown key. */
  note(key: string, { knownCells }: Pick<AdmitResponse, "knownCells">, askedAt: number): void {
    const other = findOtherCell(key, this.#cells);
    if (other !== undefined && !knownCells.includes(other.cell))
      this.#strangeUntil.set(other.cell, askedAt + FRESH_MS);
  }
}
