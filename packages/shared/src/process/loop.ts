/** At once after a run that returned true. An error is reported and followed by a pause. */
export interface Loop extends AsyncDisposable {
  readonly nudge: () => void;
}

/** For a loop that starts later than the code that nudges it. */
export interface LateNudge {
  /** Before `attach` it does nothing; the loop then finds the work in its next regular run. */
  readonly nudge: () => void;
  readonly attach: (loop: Pick<Loop, "nudge">) => void;
}

export function createLateNudge(): LateNudge {
  let attached: Pick<Loop, "nudge"> | undefined;
  return {
    nudge: () => attached?.nudge(),
    attach: (loop) => {
      attached = loop;
    },
  };
}

export interface LoopOptions {
  readonly idleMs: number;
  readonly onError: (error: unknown) => void;
  /** True when there may be more to do now, or the milliseconds until the next run. */
  readonly work: (isNudged: boolean) => Promise<boolean | number>;
}

export function startLoop(options: LoopOptions): Loop {
  let stopped = false;
  let nudged = false;
  let wake: (() => void) | undefined;
  const pause = async (ms: number): Promise<void> => {
    if (nudged || stopped) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    wake = resolve;
    await promise;
    clearTimeout(timer);
    wake = undefined;
  };
  const isStopped = (): boolean => stopped;
  const run = async (): Promise<void> => {
    while (!isStopped()) {
      const isNudged = nudged;
      nudged = false;
      try {
        const again = await options.work(isNudged);
        if (again !== true)
          await pause(typeof again === "number" ? Math.min(again, options.idleMs) : options.idleMs);
      } catch (error) {
        options.onError(error);
        await pause(options.idleMs);
      }
    }
  };
  const finished = run();
  return {
    nudge: () => {
      nudged = true;
      wake?.();
    },
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      wake?.();
      await finished;
    },
  };
}
