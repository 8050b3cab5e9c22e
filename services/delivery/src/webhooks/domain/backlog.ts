/** Maximum numbers of webhook deliveries that wait to be sent. */
export interface WaitingLimits {
  readonly perWorkspace: number;
  /** To one host, over all webhook subscriptions of a workspace. */
  readonly perHost: number;
}

/** Which limit a further waiting delivery would exceed, and by how much. */
export interface FullBacklog {
  readonly limit: number;
  readonly actual: number;
}

/** Parts of the free space, and of the limit, that a process fills before it counts again what other processes added. */
const PART_OF_FREE = 8;
const PART_OF_LIMIT = 100;
/** How long a process trusts its count after it has refused a delivery, in milliseconds. */
const FULL_MS = 5_000;

/** A counted number of waiting deliveries, and what this process added since. */
class Level {
  added = 0;
  readonly #counted: number;
  readonly #limit: number;

  constructor(counted: number, limit: number) {
    this.#counted = counted;
    this.#limit = limit;
  }

  get isTrusted(): boolean {
    const free = this.#limit - this.#counted;
    return this.added < Math.max(this.#limit / PART_OF_LIMIT, free / PART_OF_FREE);
  }

  get excess(): FullBacklog | undefined {
    const actual = this.#counted + this.added + 1;
    return actual > this.#limit ? { limit: this.#limit, actual } : undefined;
  }
}

/**
 * The waiting webhook deliveries of one workspace, as one process knows them. The process counts them again before it has
 * filled an eighth of the free space, so several processes exceed a limit by little.
 */
export class Backlog {
  readonly #total: Level;
  readonly #hosts: Map<string, Level>;
  readonly #limits: WaitingLimits;
  readonly #countedAt: number;
  #hasRefused = false;

  /** @param counts Number of waiting deliveries by host. */
  constructor(counts: ReadonlyMap<string, number>, limits: WaitingLimits, now: number) {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    this.#total = new Level(total, limits.perWorkspace);
    this.#hosts = new Map(
      [...counts].map(([host, count]) => [host, new Level(count, limits.perHost)]),
    );
    this.#limits = limits;
    this.#countedAt = now;
  }

  #level(host: string): Level {
    const known = this.#hosts.get(host) ?? new Level(0, this.#limits.perHost);
    this.#hosts.set(host, known);
    return known;
  }

  /** Whether the counts are still good enough to decide about further deliveries. */
  isTrusted(now: number): boolean {
    if (this.#hasRefused) return now - this.#countedAt < FULL_MS;
    return this.#total.isTrusted && [...this.#hosts.values()].every(({ isTrusted }) => isTrusted);
  }

  /** Adds a delivery to a host unless that exceeds a limit; then returns the limit. */
  add(host: string): FullBacklog | undefined {
    const level = this.#level(host);
    const full = this.#total.excess ?? level.excess;
    if (full === undefined) {
      this.#total.added += 1;
      level.added += 1;
    } else this.#hasRefused = true;
    return full;
  }

  /** Takes back a delivery that was added and is not waiting after all. */
  remove(host: string): void {
    this.#total.added -= 1;
    this.#level(host).added -= 1;
  }
}
