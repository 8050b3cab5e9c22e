import { randomBytes, randomInt } from "node:crypto";
import { Faults } from "#src/faults/faults.ts";
import { Pieces } from "#src/store/pieces.ts";
import { Store, type Table } from "#src/store/store.ts";
import { Accounts } from "#src/world/accounts.ts";
import { Limits } from "#src/world/limits.ts";
import { type PostFilter, Posts } from "#src/world/posts.ts";
import { Reactions } from "#src/world/reactions.ts";
import { ReaderFiles } from "#src/world/received-media.ts";
import { Settings } from "#src/world/settings.ts";

const OFFSET = "offsetMs";

/** Between resets this clock never goes back. */
class Clock {
  readonly #row: Table<number>;
  readonly #machineTime: () => number;
  #latest = 0;

  constructor(store: Store, machineTime: () => number) {
    this.#machineTime = machineTime;
    this.#row = store.table<number>("clock");
    store.onReset(() => {
      this.#latest = 0;
    });
  }

  now(): number {
    this.#latest = Math.max(this.#latest, this.#machineTime() + this.offsetMs);
    return this.#latest;
  }

  get offsetMs(): number {
    return this.#row.get(OFFSET) ?? 0;
  }

  advance(ms: number): void {
    this.#row.put(OFFSET, this.offsetMs + ms);
  }
}

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

const EPOCH_MS = 1_288_834_974_657n;
const SEQUENCE_BITS = 12n;
const WORKER_BITS = 10n;

/**
 * They grow with time. A random number keeps two simulator processes from generating the same id.
 */
class Snowflakes {
  readonly #worker = BigInt(randomInt(1 << Number(WORKER_BITS)));
  #latest = 0n;

  next(now: number): string {
    const moment = (BigInt(now) - EPOCH_MS) << (WORKER_BITS + SEQUENCE_BITS);
    const candidate = moment | (this.#worker << SEQUENCE_BITS);
    this.#latest = candidate > this.#latest ? candidate : this.#latest + 1n;
    return this.#latest.toString();
  }
}

/** A request counts as `done` or `refused` even when the caller did not get the response. */
type RequestOutcome = "pending" | "done" | "refused" | "dropped";

export interface LoggedRequest {
  readonly platform: string;
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly time: number;
  outcome: RequestOutcome;
  readonly account: string | null;
}

const MAX_KEPT_REQUESTS = 200_000;

class RequestLog {
  #entries: LoggedRequest[] = [];

  open(entry: Omit<LoggedRequest, "outcome">): LoggedRequest {
    const logged: LoggedRequest = { ...entry, outcome: "pending" };
    this.#entries.push(logged);
    if (this.#entries.length > MAX_KEPT_REQUESTS)
      this.#entries = this.#entries.slice(MAX_KEPT_REQUESTS / 2);
    return logged;
  }

  list({ platform, since = 0 }: Pick<PostFilter, "platform" | "since">): LoggedRequest[] {
    return this.#entries.filter(
      (entry) => entry.time >= since && (platform === undefined || entry.platform === platform),
    );
  }

  clear(): void {
    this.#entries = [];
  }
}

/** The state and services that all simulated platforms share. */
export type World = ReturnType<typeof createWorld>;

export function createWorld(dataDir?: string, machineTime = Date.now) {
  const store = new Store(dataDir);
  const pieces = new Pieces(dataDir);
  store.onReset(() => pieces.dropAll());
  const settings = new Settings(store);
  const files = new ReaderFiles();
  store.onReset(() => files.clear());
  return {
    store,
    pieces,
    clock: new Clock(store, machineTime),
    settings,
    limits: new Limits(store, settings),
    accounts: new Accounts(store),
    posts: new Posts(store),
    files,
    reactions: new Reactions(store),
    secrets: new Secrets(store),
    faults: new Faults(store),
    log: new RequestLog(),
    snowflakes: new Snowflakes(),
  };
}
