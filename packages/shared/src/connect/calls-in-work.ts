import { addCount } from "#src/limits/add-count.ts";

/** While this number is in work, a busy service admits no further call. */
const MAX_IN_WORK = 200;

/**
 * The RPCs that a service works on, by workspace. While the service is busy, those of the
 * workspaces with the most are refused: otherwise one workspace with many slow calls would make it
 * refuse the calls of all.
 */
export class CallsInWork {
  readonly #byOwner = new Map<string, number>();
  #total = 0;

  begin(owner: string): Disposable {
    this.#add(owner, 1);
    return { [Symbol.dispose]: () => this.#add(owner, -1) };
  }

  /** Whether the owner has at least its equal part of all calls, or no further one has room. */
  hasItsPart(owner: string): boolean {
    const own = this.#byOwner.get(owner) ?? 0;
    if (this.#total >= MAX_IN_WORK) return true;
    return own > 0 && own >= this.#total / this.#byOwner.size;
  }

  #add(owner: string, change: 1 | -1): void {
    this.#total += change;
    addCount(this.#byOwner, owner, change);
  }
}
