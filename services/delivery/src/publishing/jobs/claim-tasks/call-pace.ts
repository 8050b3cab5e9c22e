import type { BreakerPolicy } from "#src/calls/breaker.ts";

/**
 * After this wait for answers one more call is sent nevertheless: otherwise one account whose
 * server is silent could delay all others of the platform.
 */
const EXTRA_CALL_MS = 5_000;
/** How long a platform counts as one that answers after an answer. */
const FRESH_MS = 10_000;
/** To a platform that has not answered a publishing call recently. */
const MAX_UNPROVEN_CALLS = 4;

interface PlatformCalls {
  open: number;
  /** Each function lets one waiting call begin. */
  readonly waiting: Set<() => void>;
  /** In milliseconds of `now()`; undefined if the platform never answered. */
  answeredAt: number | undefined;
  /**
   * Whether a publishing call has ended with an unknown outcome since the platform's last answer.
   */
  isUnanswered: boolean;
  timer: NodeJS.Timeout | undefined;
}

interface CallPaceOptions {
  readonly now: () => number;
  /** If `holdAfterUnknowns` is 0, any number of calls may be open. */
  readonly settings: Pick<BreakerPolicy, "holdAfterUnknowns">;
}

/**
 * Any number after a fresh answer, one after an unknown outcome, otherwise a few: many targets that
 * are due at once must not all end with an unknown outcome.
 */
function maxOpenCalls({ answeredAt, isUnanswered }: PlatformCalls, now: number): number {
  if (isUnanswered) return 1;
  const isFresh = answeredAt !== undefined && now - answeredAt < FRESH_MS;
  return isFresh ? Number.POSITIVE_INFINITY : MAX_UNPROVEN_CALLS;
}

/** Limits open calls to a platform while it is not known whether it answers. */
export class CallPace {
  readonly #options: CallPaceOptions;
  readonly #platforms = new Map<string, PlatformCalls>();

  constructor(options: CallPaceOptions) {
    this.#options = options;
  }

  /**
   * Resolves when a call may begin, or at the abort. Disposing ends the call; its outcome is passed
   * to `learn` before.
   */
  async enter(platform: string, signal: AbortSignal): Promise<Disposable> {
    const calls = this.#of(platform);
    if (this.#isFree(calls) && calls.waiting.size === 0) calls.open += 1;
    else await this.#wait(calls, signal);
    return { [Symbol.dispose]: () => this.#leave(calls) };
  }

  /** Undefined: the outcome does not say whether the platform answered. */
  learn(platform: string, isAnswered: boolean | undefined): void {
    if (isAnswered === undefined) return;
    const calls = this.#of(platform);
    calls.isUnanswered = !isAnswered;
    if (!isAnswered) return;
    calls.answeredAt = this.#options.now();
    this.#beginFree(calls);
  }

  #of(platform: string): PlatformCalls {
    const known = this.#platforms.get(platform);
    if (known !== undefined) return known;
    const calls: PlatformCalls = {
      open: 0,
      waiting: new Set(),
      answeredAt: undefined,
      isUnanswered: false,
      timer: undefined,
    };
    this.#platforms.set(platform, calls);
    return calls;
  }

  #isFree(calls: PlatformCalls): boolean {
    const { now, settings } = this.#options;
    return settings.holdAfterUnknowns === 0 || calls.open < maxOpenCalls(calls, now());
  }

  async #wait(calls: PlatformCalls, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const begin = (): void => {
      if (!calls.waiting.delete(begin)) return;
      calls.open += 1;
      resolve();
    };
    calls.waiting.add(begin);
    if (signal.aborted) begin();
    signal.addEventListener("abort", begin, { once: true });
    calls.timer ??= setInterval(() => this.#begin(calls), EXTRA_CALL_MS).unref();
    await promise;
    signal.removeEventListener("abort", begin);
  }

  #begin(calls: PlatformCalls): void {
    const [first] = calls.waiting;
    first?.();
    if (calls.waiting.size > 0) return;
    clearInterval(calls.timer);
    calls.timer = undefined;
  }

  #leave(calls: PlatformCalls): void {
    calls.open -= 1;
    this.#beginFree(calls);
  }

  #beginFree(calls: PlatformCalls): void {
    while (calls.waiting.size > 0 && this.#isFree(calls)) this.#begin(calls);
  }
}
