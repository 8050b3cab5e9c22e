import { monitorEventLoopDelay } from "node:perf_hooks";

const SAMPLE_MS = 10;
const LOOK_MS = 1_000;
/** Part of a processor. An idle process uses less than a third of it. */
const MIN_CPU_SHARE = 0.02;

/** Each call returns the part of a processor that the process has used since the call before. */
function createCpuShare(): () => number {
  let [before, readAt] = [process.cpuUsage(), performance.now()];
  return () => {
    const [used, now] = [process.cpuUsage(before), performance.now()];
    const share = (used.user + used.system) / 1_000 / (now - readAt);
    [before, readAt] = [process.cpuUsage(), now];
    return share;
  };
}

/**
 * How late the event loop is, since the histogram was last reset. A sample every 10 ms takes as
 * much processor time as everything else that an idle process does, so samples are taken only while
 * the process works.
 */
export function watchLoopDelay(
  readCpuShare = createCpuShare(),
): ReturnType<typeof monitorEventLoopDelay> {
  const delay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  setInterval(() => {
    if (readCpuShare() < MIN_CPU_SHARE) delay.disable();
    else delay.enable();
  }, LOOK_MS).unref();
  return delay;
}
