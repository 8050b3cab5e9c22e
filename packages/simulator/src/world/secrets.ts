import { randomBytes } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

/** So that tests can search logs and databases for them. */
export class Secrets {
  readonly #issued: Table<1>;

  constructor(store: Store) {
    this.#issued = store.table<1>("secrets", { keptOnReset: true });
  }

  issue(secret: string): string {
    this.#issued.put(secret, 1);
    return secret;
  }

  issueToken(length: number): string {
    return this.issue(randomBytes(length).toString("base64url").slice(0, length));
  }

  all(): string[] {
    return [...this.#issued.keys()];
  }
}
