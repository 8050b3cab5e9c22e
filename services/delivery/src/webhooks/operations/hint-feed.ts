import type { Bus, TailRecord } from "@postrider/shared/bus";
import { eventTypeOf } from "@postrider/shared/bus/cloud-events";
import { TOPICS } from "@postrider/shared/bus/topics";
import { newId } from "@postrider/shared/ids";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { type Hint, toHints } from "#src/webhooks/domain/to-hints.ts";

/** How long the bus is still read when no gateway asks any more. */
const KEEP_MS = 120_000;
/** Short, because a page of another workspace that opens meanwhile waits for the next question. */
const WAIT_MS = 2_000;
const MAX_KEPT = 20_000;
const MAX_RETURNED = 1_000;

/** Offsets by place; a place is a topic or one of its partitions. */
type Position = ReadonlyMap<string, number>;

interface Kept extends Hint {
  readonly place: string;
  readonly offset: number;
}

export interface Hints {
  readonly cursor: string;
  readonly hints: readonly Hint[];
  readonly isGap: boolean;
}

interface FeedOptions {
  /** Undefined while the process starts. */
  readonly bus: () => Bus | undefined;
  readonly logger: Logger;
  readonly waitMs?: number;
  readonly keepMs?: number;
}

/**
 * The newest hints of the event bus, which is read only while a gateway asks for them: without open
 * pages nothing runs.
 *
 * A cursor has the position on the bus, not one of this process, because the calls of a gateway
 * reach the replicas in turn. A replica whose hints begin later than a cursor says that there is a
 * gap, and the pages then read again what they show.
 */
export class HintFeed implements AsyncDisposable {
  readonly #options: FeedOptions;
  #tail: Promise<AsyncDisposable> | undefined;
  #kept: Kept[] = [];
  /** Before it hints are missing. */
  #floor = new Map<string, number>();
  #position = new Map<string, number>();
  #started: PromiseWithResolvers<void> | undefined;
  #wake = Promise.withResolvers<void>();
  #closing: NodeJS.Timeout | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** @throws An error while the process starts, and when the bus cannot be read. */
  async wait(cursor: string, workspaceIds: ReadonlySet<string>): Promise<Hints> {
    await this.#open();
    const from = parseCursor(cursor);
    if (from === undefined) return this.#answer([], cursor !== "");
    if (this.#isMissing(from)) return this.#answer([], true);
    const until = performance.now() + (this.#options.waitMs ?? WAIT_MS);
    for (;;) {
      const hints = this.#listAfter(from, workspaceIds);
      const leftMs = until - performance.now();
      if (hints.length > 0 || leftMs <= 0) return this.#answer(hints, hints.length > MAX_RETURNED);
      await this.#untilWoken(leftMs);
    }
  }

  async #untilWoken(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([promise, this.#wake.promise]);
    clearTimeout(timer);
  }

  #answer(hints: readonly Hint[], isGap: boolean): Hints {
    const cursor = JSON.stringify([...this.#position]);
    return { cursor, hints: isGap ? [] : hints, isGap };
  }

  #isMissing(from: Position): boolean {
    return [...this.#floor].some(([place, offset]) => (from.get(place) ?? -1) < offset);
  }

  #listAfter(from: Position, workspaceIds: ReadonlySet<string>): readonly Hint[] {
    const found = new Map<string, Hint>();
    for (const { place, offset, ...hint } of this.#kept)
      if (workspaceIds.has(hint.workspaceId) && offset > (from.get(place) ?? -1))
        found.set(`${hint.workspaceId} ${hint.type} ${hint.id}`, hint);
    return [...found.values()];
  }

  async #open(): Promise<void> {
    clearTimeout(this.#closing);
    this.#closing = setTimeout(() => void this.#close(), this.#options.keepMs ?? KEEP_MS).unref();
    this.#tail ??= this.#startTail().catch((error: unknown) => {
      this.#tail = undefined;
      throw error;
    });
    await this.#tail;
    await this.#started?.promise;
  }

  async #startTail(): Promise<AsyncDisposable> {
    const bus = this.#options.bus();
    this.#started = Promise.withResolvers();
    if (bus === undefined) throw new Error("the event bus is not open yet");
    return await bus.tail({
      group: `delivery.hints.${newId()}`,
      topics: TOPICS,
      onStart: (offsets) => {
        this.#floor = new Map(offsets);
        this.#position = new Map(offsets);
        this.#started?.resolve();
      },
      onRecords: (records) => this.#keep(records),
    });
  }

  #keep(records: readonly TailRecord[]): void {
    for (const record of records) {
      const { place, offset } = record;
      this.#position.set(place, offset);
      for (const hint of toHints(eventTypeOf(record), record.value))
        this.#kept.push({ ...hint, place, offset });
    }
    for (const { place, offset } of this.#kept.slice(0, -MAX_KEPT)) this.#floor.set(place, offset);
    this.#kept = this.#kept.slice(-MAX_KEPT);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  async #close(): Promise<void> {
    const tail = this.#tail;
    this.#tail = undefined;
    this.#kept = [];
    try {
      await (await tail)?.[Symbol.asyncDispose]();
    } catch (error) {
      const message = "reading the event bus for hints could not be stopped";
      this.#options.logger.debug({ err: error }, message);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#closing);
    this.#wake.resolve();
    await this.#close();
  }
}

/** Undefined for the empty cursor and for one that no feed has made. */
function parseCursor(cursor: string): Position | undefined {
  try {
    const places: unknown = JSON.parse(cursor);
    return Array.isArray(places) ? new Map(places as [string, number][]) : undefined;
  } catch {
    return undefined;
  }
}
