import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

export interface Account {
  readonly platform: string;
  readonly externalId: string;
  readonly username: string;
  readonly displayName: string;
}

/**
 * Usernames are unique per platform, regardless of case. Accounts survive a reset of the simulator.
 */
export class Accounts {
  readonly #rows: Table<Account>;
  readonly #byName = new Map<string, Account>();

  constructor(store: Store) {
    this.#rows = store.table<Account>("accounts", { keptOnReset: true });
    for (const account of this.#rows.values())
      this.#byName.set(nameKey(account.platform, account.username), account);
  }

  byId(platform: string, externalId: string): Account | undefined {
    return this.#rows.get(`${platform}:${externalId}`);
  }

  byUsername(platform: string, username: string): Account | undefined {
    return this.#byName.get(nameKey(platform, username));
  }

  find(platform: string, either: string): Account | undefined {
    return this.byId(platform, either) ?? this.byUsername(platform, either);
  }

  add(account: Account): Account {
    this.#rows.put(`${account.platform}:${account.externalId}`, account);
    this.#byName.set(nameKey(account.platform, account.username), account);
    return account;
  }
}

function nameKey(platform: string, username: string): string {
  return `${platform}:${username.toLowerCase()}`;
}
