import { monitorEventLoopDelay } from "node:perf_hooks";

const SAMPLE_MS = 10;
const LOOK_MS = 1_000;
/** In an idle process, timers keep the event loop busy for a smaller part of the time. */
const MIN_UTILIZATION = 0.02;

/** Each call returns the part of the time since the call before in which the loop was busy. */
export function createUtilization(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}

/**
 * How late the event loop is, since the histogram was last reset. A sample every 10 ms takes as
 * much processor time as everything else that an idle process does, so samples are taken only while
 * the process works.
 */
export function watchLoopDelay(
  readUtilization = createUtilization(),
): ReturnType<typeof monitorEventLoopDelay> {
  const delay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  setInterval(() => {
    if (readUtilization() < MIN_UTILIZATION) delay.disable();
    else delay.enable();
  }, LOOK_MS).unref();
  return delay;
}
