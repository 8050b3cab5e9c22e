import { isDeepStrictEqual } from "node:util";
import type { Components, DescribedOperation } from "./document.ts";

/**
 * Replaces the headers of the answers of an operation by references. A header stays in place
 * if the components contain another schema for it.
 */
export function nameHeaders({ responses }: DescribedOperation, { headers }: Components): void {
  for (const answer of Object.values(responses)) {
    const found = Object.entries(answer.headers ?? {});
    answer.headers = Object.fromEntries(
      found.map(([name, header]) => {
        const known = (headers[name] ??= header);
        const isKnown = isDeepStrictEqual(known, header);
        return [name, isKnown ? { $ref: `#/components/headers/${name}` } : header];
      }),
    );
  }
}
