import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";

/** What the main thread of a page did in a time, in milliseconds. */
export interface MainThreadWork {
  /** Processor time of all tasks. */
  readonly cpuMs: number;
  /** Duration of the longest task, with the time in which the machine ran something else. */
  readonly longestMs: number;
  /** Processor time of the task that took most of it. */
  readonly longestCpuMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** In microseconds, as the next one. */
  readonly dur?: number;
  readonly tdur?: number;
}

const CATEGORIES = ["toplevel", "blink.user_timing"];
const MARK = "postrider-bench";
const TASK = "ThreadControllerImpl::RunTask";

/**
 * Records the tasks of the page's main thread while `act` runs. A trace knows the processor time of
 * each task, which other work on the machine does not change much, unlike the time that it took.
 */
export async function watchMainThread(
  browser: Browser,
  page: Page,
  act: () => Promise<void>,
): Promise<MainThreadWork> {
  await browser.startTracing(page, { categories: CATEGORIES });
  await act();
  await page.evaluate(`performance.mark('${MARK}')`);
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  // The parts of the browser around the page are pages too, with threads of their own.
  const mark = traceEvents.find(({ name }) => name === MARK);
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name === TASK && pid === mark?.pid && tid === mark.tid,
  );
  const ms = (read: (task: TraceEvent) => number | undefined) =>
    tasks.map((task) => (read(task) ?? 0) / 1000);
  const cpu = ms(({ tdur }) => tdur);
  return {
    cpuMs: cpu.reduce((sum, each) => sum + each, 0),
    longestMs: Math.max(0, ...ms(({ dur }) => dur)),
    longestCpuMs: Math.max(0, ...cpu),
  };
}

const BEFORE_SERVICES = "-15";

/**
 * Lets the browser that this process started go before the services, because the browser of a
 * reader does not share the processors of the server. Returns whether the system allows it: Linux
 * does to root, for the whole session (`autogroup` in sched(7)) of each child that is a browser.
 */
export function preferBrowser(): boolean {
  const children = `/proc/${process.pid}/task/${process.pid}/children`;
  if (!existsSync(children)) return false;
  try {
    for (const pid of readFileSync(children, "utf8").trim().split(" ")) {
      const isBrowser = /chrom/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
      if (isBrowser) writeFileSync(`/proc/${pid}/autogroup`, BEFORE_SERVICES);
    }
    return true;
  } catch {
    return false;
  }
}
