/** A source of random choices. Two sources with the same seed make the same choices. */
export interface Random {
  /** Restarts the random choices as if the source were created with this seed. */
  restart(seed: number): void;
  /** Returns a random number, at least 0 and below 1. */
  next(): number;
  /** Returns a random whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  /** Returns a random item. @throws Error for an empty list. */
  pick<T>(items: readonly T[]): T;
  /** Returns `count` different items in random order; all items if the list is shorter. */
  sample<T>(items: readonly T[], count: number): T[];
}

/** Creates a source of random choices (the generator mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    restart: (other) => {
      state = other >>> 0;
    },
    next,
    int,
    chance: (probability) => next() < probability,
    pick: <T>(items: readonly T[]) => {
      if (items.length === 0) throw new Error("there is nothing to choose from");
      return items[int(0, items.length - 1)] as T;
    },
    sample: <T>(items: readonly T[], count: number) => {
      const left = [...items];
      const length = Math.min(count, left.length);
      return Array.from({ length }, () => left.splice(int(0, left.length - 1), 1)[0] as T);
    },
  };
}

/** Returns a random UUID of version 7, the version of all ids of the API. */
export function randomId(random: Random): string {
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => random.int(0, 15).toString(16)).join("");
  return `01936a5e-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`;
}
