import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import type { EventSource } from "#src/webhooks/domain/webhook-event.ts";
import { composePage, ComposeTurn } from "./compose-page.ts";
import type { ComposeDeps } from "./read-objects.ts";

const IDLE_MS = 30_000;
/** Shortest and longest pause before an owner that did not answer is asked again. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** Writes the payloads of events. `nudge` makes it look for new ones at once. */
export interface Composer extends AsyncDisposable {
  readonly nudge: () => void;
}

/** Each failure in a row doubles the pause of an owner that did not answer. */
class OwnerPauses {
  readonly #pauses = new Map<EventSource["kind"], { untilMs: number; pauseMs: number }>();

  paused(): readonly EventSource["kind"][] {
    const now = performance.now();
    return [...this.#pauses].filter(([, { untilMs }]) => untilMs > now).map(([kind]) => kind);
  }

  record(unavailable: readonly EventSource["kind"][]): void {
    const now = performance.now();
    for (const [kind, { untilMs }] of this.#pauses)
      if (untilMs <= now && !unavailable.includes(kind)) this.#pauses.delete(kind);
    for (const kind of unavailable) {
      const known = this.#pauses.get(kind)?.pauseMs;
      const pauseMs = known === undefined ? MIN_PAUSE_MS : Math.min(known * 2, MAX_PAUSE_MS);
      this.#pauses.set(kind, { untilMs: now + pauseMs, pauseMs });
    }
  }
}

/**
 * Starts the job that writes the payloads of webhook events and queues their deliveries, in any
 * number of processes.
 *
 * @param deps.nudgeDispatcher Called when deliveries have become due.
 */
export function startComposer(
  deps: ComposeDeps & { readonly nudgeDispatcher: () => void },
): Composer {
  const { logger, nudgeDispatcher } = deps;
  const pauses = new OwnerPauses();
  const turn = new ComposeTurn();
  return startDueLoop({
    sql: deps.sql,
    isDue: (sql) => sql`exists (select from webhook_compositions where lease_until <= now())`,
    idleMs: IDLE_MS,
    work: async () => {
      const page = await composePage(deps, pauses.paused(), turn);
      pauses.record(page.unavailable);
      if (page.unavailable.length > 0)
        logger.warn(
          { job: "compose-payloads", kinds: page.unavailable },
          "a service did not answer; webhook events that need its data wait, and the job compose-payloads asks it again after a pause",
        );
      if (page.composed > 0) nudgeDispatcher();
      return page.hasMore;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "compose-payloads" },
        "the payloads of webhook events could not be written; the job compose-payloads tries again",
      ),
  });
}
