import type { EnvReader } from "#src/config.ts";
import { isProduction } from "#src/config/production.ts";
import { CELL_NAME } from "#src/secrets/api-keys.ts";

/**
 * A cell is an installation with databases of its own. The API keys that it issues name it, so that
 * a router, or the gateway of another cell, knows without a database where a request belongs.
 */
export interface Cells {
  /** Undefined in an installation without cells. */
  readonly own: string | undefined;
  /** The public address of each cell. */
  readonly addresses: ReadonlyMap<string, string>;
}

const IS_CELL = new RegExp(`^${CELL_NAME}$`);
const IS_ADDRESS = new RegExp(`^(${CELL_NAME})=(https?://[^/?#@\\s]+)/*$`);

function readAddresses(read: EnvReader): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  const isHttpsOnly = isProduction(read);
  for (const entry of read.list("CELL_ADDRESSES")) {
    const [, cell = "", address = ""] = IS_ADDRESS.exec(entry) ?? [];
    if (cell === "")
      read.fail("CELL_ADDRESSES", `has an entry that is not \`cell=address\`: ${entry}`);
    else if (addresses.has(cell)) read.fail("CELL_ADDRESSES", `names the cell ${cell} twice`);
    else if (isHttpsOnly && address.startsWith("http:"))
      read.fail("CELL_ADDRESSES", `must not contain ${address} with POSTRIDER_ENV=production`);
    else addresses.set(cell, address);
  }
  return addresses;
}

export function readCells(read: EnvReader): Cells {
  const own = read
    .about(
      "Name of this cell, if several installations with a database each share the workspaces: 1 to 8 of `a-z` and `0-9`. New API keys contain it. Never change it: the gateway refuses the keys of the cell's earlier name.",
    )
    .optionalString("CELL");
  const addresses = readAddresses(
    read.about(
      "Public addresses of all cells, such as `eu1=https://eu1.example.com,us1=https://us1.example.com`. The gateway answers a request with an API key of another cell with status 421 and the address of that cell.",
    ),
  );
  if (own !== undefined && !IS_CELL.test(own))
    read.fail("CELL", `is not 1 to 8 characters of a-z and 0-9: ${own}`);
  if (addresses.size > 0 && !addresses.has(own ?? ""))
    read.fail("CELL_ADDRESSES", "does not contain the cell that CELL names");
  return { own, addresses };
}
