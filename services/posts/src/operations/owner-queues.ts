import { PoolWait } from "@postrider/shared/postgres/pool-wait";

interface Entry<T> {
  readonly value: T;
  /** Functions that are called when the value is taken. */
  readonly onTaken: (() => void)[];
}

interface Queue<T> {
  readonly entries: Entry<T>[];
  /** How long the last value of the owner waits. */
  readonly wait: PoolWait;
}

/** Taken in turns, one of each owner per round: an owner with many values delays no others. */
export class OwnerQueues<T> {
  /** The queues that are not empty. The owner whose turn is next comes first. */
  readonly #queues = new Map<string, Queue<T>>();
  /** How long the first value of a new owner would wait. */
  readonly #wait = new PoolWait(() => this.#isTaken([...this.#queues.values()].at(-1)?.entries[0]));

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** Whether another value of the owner would wait for over half a second. */
  isTooLong(owner: string): boolean {
    const ofOwner = this.#queues.get(owner)?.wait.state() ?? "free";
    return this.#wait.state() !== "free" || ofOwner !== "free";
  }

  push(owner: string, value: T): void {
    const queue = this.#queues.get(owner) ?? {
      entries: [],
      wait: new PoolWait(() => this.#isTaken(this.#queues.get(owner)?.entries.at(-1))),
    };
    queue.entries.push({ value, onTaken: [] });
    this.#queues.set(owner, queue);
  }

  /** Takes values in turns until the next one does not fit. */
  take(fits: (value: T) => boolean): readonly T[] {
    const taken: T[] = [];
    for (;;) {
      const [next] = this.#queues;
      if (next === undefined) return taken;
      const [owner, queue] = next;
      const [entry] = queue.entries;
      if (entry === undefined || !fits(entry.value)) return taken;
      queue.entries.shift();
      this.#queues.delete(owner);
      if (queue.entries.length > 0) this.#queues.set(owner, queue);
      taken.push(toTaken(entry));
    }
  }

  takeAllOf(owner: string): readonly T[] {
    const entries = this.#queues.get(owner)?.entries ?? [];
    this.#queues.delete(owner);
    return entries.map(toTaken);
  }

  async #isTaken(entry: Entry<T> | undefined): Promise<void> {
    if (entry === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    entry.onTaken.push(resolve);
    await promise;
  }
}

function toTaken<T>({ value, onTaken }: Entry<T>): T {
  for (const call of onTaken) call();
  return value;
}
