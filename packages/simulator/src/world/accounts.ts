import { randomInt } from "node:crypto";
import type { Store, Table } from "#src/store/store.ts";

export interface Account {
  readonly platform: string;
  readonly externalId: string;
  readonly username: string;
  readonly displayName: string;
}

/** How a platform names an account, and which id it gives it. */
export interface AccountRules {
  readonly nameOf: (words: readonly string[], number: number) => string;
  readonly newId: (displayName: string) => string;
}

const QUALITIES = "Amber Brisk Calm Dusty Early Gentle Merry Quiet Sunny".split(" ");
const THINGS = "Anvil Bay Cedar Fern Heron Lake Maple Otter River Tide".split(" ");

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

  /**
   * The account with the username, which is created if it does not exist; without a username,
   * always a new account with an invented one.
   */
  ensure(platform: string, username: string | undefined, rules: AccountRules): Account {
    const words = [QUALITIES, THINGS].map((list) => list[randomInt(list.length)] ?? "");
    const lower = words.map((word) => word.toLowerCase());
    const name = username ?? rules.nameOf(lower, randomInt(1, 100_000));
    const present = this.byUsername(platform, name);
    if (present !== undefined)
      return username === undefined ? this.ensure(platform, undefined, rules) : present;
    const displayName = words.join(" ");
    return this.#add({
      platform,
      externalId: rules.newId(displayName),
      username: name,
      displayName,
    });
  }

  #add(account: Account): Account {
    this.#rows.put(`${account.platform}:${account.externalId}`, account);
    this.#byName.set(nameKey(account.platform, account.username), account);
    return account;
  }
}

function nameKey(platform: string, username: string): string {
  return `${platform}:${username.toLowerCase()}`;
}
