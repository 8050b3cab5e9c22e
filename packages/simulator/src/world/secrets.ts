import { randomBytes } from "node:crypto";
import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

/**
 * Every token and password that the simulator has issued, so that tests can search logs and
 * databases for them.
 */
export class Secrets {
  readonly #issued: Table<1>;

  constructor(store: Store) {
    this.#issued = store.table<1>("secrets", { keptOnReset: true });
  }

  /** Records a secret of the simulator before the simulator shows it to a caller. */
  issue(secret: string): string {
    this.#issued.put(secret, 1);
    return secret;
  }

  /** Generates a random token with the given number of base64url characters. */
  issueToken(length: number): string {
    return this.issue(randomBytes(length).toString("base64url").slice(0, length));
  }

  all(): string[] {
    return [...this.#issued.keys()];
  }
}
