import type { ProcessUsage } from "./child-processes.ts";
import type { InspectionEnd, InspectionLimits } from "./inspection-protocol.ts";

/**
 * Without a `progress` message. Longer than the limit on processor time, because a child may wait
 * for the processor.
 */
const MAX_WALL_MS = 60_000;
/**
 * Processor time of a whole inspection: as much as this many steps that need all of their time, and
 * the time to read the file several times. A file whose many steps each stay just below their limit
 * would otherwise keep those of others waiting for minutes.
 */
const MAX_FULL_STEPS = 8;
const BYTES_PER_MS = 20_000;

export interface WatchLimits extends Pick<InspectionLimits, "memoryBytes" | "timeMs"> {
  readonly fileBytes: number;
  readonly maxMs: number;
}

interface Look {
  /** Undefined when it could not be read, which says nothing about the file. */
  readonly usage: ProcessUsage | undefined;
  /** Number of `progress` messages. */
  readonly progress: number;
  readonly wallMs: number;
}

interface Seen {
  readonly progress: number;
  readonly cpuMs: number | undefined;
  readonly wallMs: number;
}

/** Judges one inspection process by what it uses. */
export class UsageWatch {
  readonly #limits: WatchLimits;
  readonly #startedMs: number;
  #firstCpuMs: number | undefined;
  #last: Seen = { progress: -1, cpuMs: undefined, wallMs: 0 };

  constructor(limits: WatchLimits, startedMs: number) {
    this.#limits = limits;
    this.#startedMs = startedMs;
  }

  /** Returns why the process must be ended; undefined while it may go on. */
  look(look: Look): InspectionEnd | undefined {
    const { usage, wallMs } = look;
    const { memoryBytes, maxMs } = this.#limits;
    this.#see(look);
    if (usage !== undefined && usage.memoryBytes > memoryBytes)
      return { kind: "exhausted", what: "memory" };
    if (this.#isOverTime(usage) || wallMs - this.#startedMs > maxMs)
      return { kind: "exhausted", what: "time" };
    return wallMs - this.#last.wallMs > MAX_WALL_MS ? { kind: "gone" } : undefined;
  }

  #see({ usage, progress, wallMs }: Look): void {
    this.#firstCpuMs ??= usage?.cpuMs;
    this.#last =
      progress === this.#last.progress
        ? { ...this.#last, cpuMs: this.#last.cpuMs ?? usage?.cpuMs }
        : { progress, cpuMs: usage?.cpuMs, wallMs };
  }

  #isOverTime(usage: ProcessUsage | undefined): boolean {
    if (usage === undefined) return false;
    const { timeMs, fileBytes } = this.#limits;
    const stepMs = usage.cpuMs - (this.#last.cpuMs ?? usage.cpuMs);
    const totalMs = usage.cpuMs - (this.#firstCpuMs ?? usage.cpuMs);
    return stepMs > timeMs || totalMs > MAX_FULL_STEPS * timeMs + fileBytes / BYTES_PER_MS;
  }
}
