/**
 * Node loads this file into one process with `node --import`. On SIGUSR2, the process's wall clock
 * jumps ahead, as when an operator sets the time of a machine. The clock is right at the start,
 * because a process that starts with a wrong clock never becomes ready.
 */
const AHEAD_MS = 5 * 60_000;

const RealDate = Date;
let aheadMs = 0;

class ShiftedDate extends RealDate {
  constructor(...args: readonly unknown[]) {
    // A Date that is created without arguments is the current time.
    super(...((args.length === 0 ? [RealDate.now() + aheadMs] : args) as [number]));
  }

  static override now(): number {
    return RealDate.now() + aheadMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
const { timeOrigin } = performance;
Object.defineProperty(performance, "timeOrigin", { get: () => timeOrigin + aheadMs });
process.on("SIGUSR2", () => {
  aheadMs = AHEAD_MS;
});
