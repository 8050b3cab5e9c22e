import { createStore, useStore } from "../settings/create-store.ts";

const TICK_MS = 20_000;

const store = createStore<Temporal.Instant | undefined>(undefined);

function tick(): void {
  store.set(Temporal.Now.instant());
}

/** Starts at the first use: the polyfill may not be there while this module loads. */
function start(): void {
  tick();
  setInterval(tick, TICK_MS);
}

/**
 * The present, fine enough for clocks without seconds: all components change in the same moment.
 */
export function useNow(): Temporal.Instant {
  if (store.get() === undefined) start();
  return useStore(store) ?? Temporal.Now.instant();
}
