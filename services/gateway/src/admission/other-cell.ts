import type { Cells } from "@postrider/shared/config/cells";
import { parseApiKey } from "@postrider/shared/secrets/api-keys";

export interface OtherCell {
  readonly cell: string;
  /** Undefined if this installation does not know the cell. */
  readonly cellAddress: string | undefined;
}

/**
 * Returns the cell of an API key if only another cell can know the key. No database is asked, so a
 * client that sends its requests to the wrong cell costs no more than one without a key. An
 * installation without cells looks up every key: those that it issued as a cell stay good.
 */
export function findOtherCell(key: string, { own, addresses }: Cells): OtherCell | undefined {
  const cell = parseApiKey(key)?.cell;
  if (own === undefined || cell === undefined || cell === own) return undefined;
  return { cell, cellAddress: addresses.get(cell) };
}
