import type { DashboardEvent } from "@postrider/rest/dashboard/events";

/** How often hints are sent while changes go on. */
interface HintPace {
  readonly everyMs: number;
  /** How often they are sent at once after a time without any. */
  readonly atOnce: number;
  /** Between two of those: what ends on seven accounts within seconds is shown to its end. */
  readonly gapMs: number;
}

/** The pages of a thing are few and a person waits at them; lists change with each thing. */
const THINGS: HintPace = { everyMs: 2_000, atOnce: 6, gapMs: 200 };
const LISTS: HintPace = { everyMs: 15_000, atOnce: 6, gapMs: 1_000 };

/** Of further things only the lists are told, and with them all pages to read again. */
const MAX_GATHERED = 200;
export const RESYNC: DashboardEvent = { type: "resync", id: null };

const keyOf = ({ type, id }: DashboardEvent): string => `${type} ${id}`;
const RESYNC_KEY = keyOf(RESYNC);

/** When the next hints are sent, and until when those sent so far use up the pace. */
function nextSending(
  { everyMs, atOnce }: HintPace,
  spentUntil: number,
  earliest: number,
): readonly [at: number, spentUntil: number] {
  const at = Math.max(earliest, spentUntil - everyMs * (atOnce - 1));
  return [at, Math.max(spentUntil, at) + everyMs];
}

type Send = (events: readonly DashboardEvent[]) => void;

/** Gathers the hints that have one pace. */
class Lane {
  readonly #pace: HintPace;
  readonly #gatherMs: number;
  readonly #send: Send;
  #events = new Map<string, DashboardEvent>();
  #timer: NodeJS.Timeout | undefined;
  #spentUntil = Number.NEGATIVE_INFINITY;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(pace: HintPace, gatherMs: number, send: Send) {
    [this.#pace, this.#gatherMs, this.#send] = [pace, gatherMs, send];
  }

  add(event: DashboardEvent): void {
    if (event.type === "resync") this.#events.clear();
    if (!this.#events.has(RESYNC_KEY)) this.#events.set(keyOf(event), event);
    if (this.#timer !== undefined) return;
    const now = performance.now();
    const earliest = Math.max(now + this.#gatherMs, this.#sentAt + this.#pace.gapMs);
    const [at, spentUntil] = nextSending(this.#pace, this.#spentUntil, earliest);
    [this.#sentAt, this.#spentUntil] = [at, spentUntil];
    this.#timer = setTimeout(() => this.#flush(), at - now).unref();
  }

  get isFull(): boolean {
    return this.#events.size >= MAX_GATHERED;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#timer = undefined;
    const events = [...this.#events.values()];
    this.#events.clear();
    this.#send(events);
  }
}

/**
 * The hints of one workspace. All of its pages get them at the same moment, and their equal reads
 * are then answered together: a hundred pages that each kept a pace of their own would cost a
 * hundred reads of everything. A hint with an id is for the pages of that thing; the lists of its
 * kind get one without an id, more rarely, or the pages of a busy workspace would use up the
 * requests that all of its keys share.
 */
export class WorkspaceHints {
  readonly #things: Lane;
  readonly #lists: Lane;

  constructor(gatherMs: number, send: Send) {
    this.#things = new Lane(THINGS, gatherMs, send);
    this.#lists = new Lane(LISTS, gatherMs, send);
  }

  add(event: DashboardEvent): void {
    if (event.id !== null)
      if (this.#things.isFull) this.#lists.add(RESYNC);
      else this.#things.add(event);
    // A target is a part of its post.
    const type = event.type === "target" ? "post" : event.type;
    this.#lists.add({ type, id: null });
  }

  stop(): void {
    this.#things.stop();
    this.#lists.stop();
  }
}
