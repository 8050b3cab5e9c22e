import { unavailable } from "@postrider/shared/errors";

export interface SlotLimits {
  /** How many work at once. */
  readonly total: number;
  /** How many of one owner do, so that one with slow work leaves room for others. */
  readonly perOwner: number;
  /** How long one waits for a slot. */
  readonly waitMs: number;
  /** How many wait; more are sent away at once. */
  readonly queue: number;
}

interface Waiting {
  readonly owner: string;
  readonly start: () => void;
}

/** A bounded number of places to work at, given in the order of asking, but for owners that have their share. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #count = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** @throws `unavailable` when no slot is free in time. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#hasRoom(owner)) this.#take(owner);
    else await this.#wait(owner);
    try {
      return await work();
    } finally {
      this.#giveBack(owner);
    }
  }

  #hasRoom(owner: string): boolean {
    const { total, perOwner } = this.#limits;
    return this.#count < total && (this.#running.get(owner) ?? 0) < perOwner;
  }

  #take(owner: string): void {
    this.#count += 1;
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
  }

  async #wait(owner: string): Promise<void> {
    const { queue, waitMs } = this.#limits;
    if (this.#waiting.size >= queue) throw unavailable();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { owner, start: resolve };
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      reject(unavailable());
    }, waitMs);
    this.#waiting.add(waiting);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #giveBack(owner: string): void {
    this.#count -= 1;
    const left = (this.#running.get(owner) ?? 0) - 1;
    if (left > 0) this.#running.set(owner, left);
    else this.#running.delete(owner);
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.owner)) continue;
      // Taken here, not by whoever wakes up: in between somebody else could come.
      this.#take(waiting.owner);
      this.#waiting.delete(waiting);
      waiting.start();
    }
  }
}
