import type { DashboardEvent, DashboardEventType } from "@postrider/rest/dashboard/events";
import type { QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { sessionApi } from "../session/session-api.ts";
import { createStore, useStore } from "../settings/create-store.ts";

/** The kinds of hints, as `packages/rest/src/dashboard/events.ts` lists them. */
const TYPES: readonly DashboardEventType[] = [
  "post",
  "target",
  "account",
  "media",
  "quota",
  "delivery",
  "comment",
  "run",
  "resync",
];

export type LiveState = "connecting" | "live" | "polling";

const LOST_AFTER_MS = 5_000;
const POLL_MS = 15_000;
const REOPEN_AFTER_MS = 10_000;
/** Events of this time are read together: a post on five accounts makes ten of them. */
const GATHER_MS = 250;
/** While changes do not end, what is shown is read again no more often than this. */
const MAX_GATHER_MS = 5_000;
/** After it, the next change is shown at once again. */
const CALM_MS = 10_000;

const state = createStore<LiveState>("connecting");

export function useLiveState(): LiveState {
  return useStore(state);
}

/**
 * Whether a query shows something that the hints say has changed. A key begins with a kind, and
 * then "list" or the id of one thing: a thing is read again only when it itself has changed.
 */
export function isTouched(key: readonly unknown[], events: readonly DashboardEvent[]): boolean {
  return events.some((event) => event.type === "resync" || touches(event, key));
}

const IN_OVERVIEW = new Set<DashboardEventType>(["post", "target", "account"]);

function touches({ type, id, postId }: DashboardEvent, [kind, thing]: readonly unknown[]): boolean {
  if (kind === "overview") return IN_OVERVIEW.has(type);
  // A target is a part of its post.
  const isTarget = type === "target";
  if (kind !== (isTarget ? "post" : type)) return false;
  const changed = isTarget ? (postId ?? null) : id;
  return thing === undefined || thing === "list" || changed === null || thing === changed;
}

/**
 * How long events are gathered before they are read: longer each time while they go on, or the
 * pages of a busy workspace would use up the requests that all of its keys share.
 *
 * @param before How long it was the last time.
 * @param calmMs Since the last reading.
 */
export function gatherTime(before: number, calmMs: number): number {
  return calmMs >= CALM_MS ? GATHER_MS : Math.min(MAX_GATHER_MS, before * 2);
}

/** Hands events on together. */
function createGatherer(read: (events: readonly DashboardEvent[]) => void) {
  let events: DashboardEvent[] = [];
  let timer: number | undefined;
  let waitMs = GATHER_MS;
  let readAt = Number.NEGATIVE_INFINITY;
  const handOn = (): void => {
    const gathered = events;
    [events, timer, readAt] = [[], undefined, performance.now()];
    read(gathered);
  };
  return {
    add: (event: DashboardEvent): void => {
      events.push(event);
      if (timer !== undefined) return;
      waitMs = gatherTime(waitMs, performance.now() - readAt);
      timer = window.setTimeout(handOn, waitMs);
    },
    stop: (): void => clearTimeout(timer),
  };
}

/** Follows the stream of changes while it is mounted, and asks every 15 s while there is none. */
export function useLiveEvents(client: QueryClient): void {
  useEffect(() => follow(client), [client]);
}

function follow(client: QueryClient): () => void {
  let source: EventSource | undefined;
  let losing: number | undefined;
  let polling: number | undefined;
  let opening: number | undefined;

  const events = createGatherer((gathered) => {
    void client.invalidateQueries({ predicate: ({ queryKey }) => isTouched(queryKey, gathered) });
  });
  const gather = ({ data }: MessageEvent<string>): void =>
    events.add(JSON.parse(data) as DashboardEvent);
  const poll = (): void => {
    state.set("polling");
    polling ??= window.setInterval(() => void client.invalidateQueries(), POLL_MS);
  };
  const stopPolling = (): void => {
    for (const timer of [losing, polling]) clearTimeout(timer);
    losing = polling = undefined;
  };
  const open = (): void => {
    source = new EventSource("/app/api/events");
    for (const type of TYPES) source.addEventListener(type, gather);
    source.addEventListener("open", () => {
      stopPolling();
      state.set("live");
    });
    source.addEventListener("error", () => {
      losing ??= window.setTimeout(poll, LOST_AFTER_MS);
      // After an answer that is not a stream the browser does not try again by itself.
      if (source?.readyState !== EventSource.CLOSED) return;
      opening = window.setTimeout(open, REOPEN_AFTER_MS);
      // The stream does not say why: if the session has ended, this request finds out.
      void sessionApi.get().catch(() => undefined);
    });
  };
  open();
  return () => {
    source?.close();
    stopPolling();
    clearTimeout(opening);
    events.stop();
    state.set("connecting");
  };
}
