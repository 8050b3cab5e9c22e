import { randomInt } from "node:crypto";
import type { Store, Table } from "#src/store/store.ts";
import type { Secrets } from "#src/world/world.ts";

export interface Bot {
  readonly id: number;
  readonly token: string;
  readonly username: string;
}

/** A bot without a membership is not in the channel. */
export interface Membership {
  readonly canPostMessages: boolean;
  readonly canDeleteMessages: boolean;
}

const TOKEN = /^\d{6,12}:[A-Za-z0-9_-]{30,50}$/;
const SECRET_CHARACTERS = 35;

export class Bots {
  readonly #bots: Table<Bot>;
  readonly #memberships: Table<Membership>;
  readonly #secrets: Secrets;

  constructor(store: Store, secrets: Secrets) {
    this.#bots = store.table<Bot>("telegram.bots", { keptOnReset: true });
    this.#memberships = store.table<Membership>("telegram.members", { keptOnReset: true });
    this.#secrets = secrets;
  }

  issueFor(chatId: string): Bot {
    const id = randomInt(1_000_000_000, 9_000_000_000);
    const secret = this.#secrets.issueToken(SECRET_CHARACTERS);
    const bot = { id, token: this.#secrets.issue(`${id}:${secret}`), username: `sim${id}_bot` };
    this.#bots.put(bot.token, bot);
    this.#memberships.put(`${id}:${chatId}`, { canPostMessages: true, canDeleteMessages: true });
    return bot;
  }

  byToken(token: string): Bot | undefined {
    return this.#bots.get(token);
  }

  membership(bot: Bot, chatId: string): Membership | undefined {
    return this.#memberships.get(`${bot.id}:${chatId}`);
  }

  leave(bot: Bot, chatId: string): void {
    this.#memberships.delete(`${bot.id}:${chatId}`);
  }

  administrators(chatId: string): Bot[] {
    return [...this.#bots.values()].filter((bot) => this.#memberships.has(`${bot.id}:${chatId}`));
  }
}

/** Telegram answers a call with any other text with 404 instead of 401. */
export function isTokenShaped(text: string): boolean {
  return TOKEN.test(text);
}
