import type { DashboardEvent, DashboardEventType } from "@postrider/rest/dashboard/events";
import type { Query, QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { sessionApi } from "../session/session-api.ts";
import { createStore, useStore } from "../settings/create-store.ts";
import { isLive, isTouched } from "./is-touched.ts";

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
/** The server sends hints together; what follows at once is read with them. */
const GATHER_MS = 200;
/** All pages of a workspace get a hint at the same moment. */
const SPREAD_MS = 20;
/** A hidden page keeps the count in its title. */
const HIDDEN_MS = 60_000;

const state = createStore<LiveState>("connecting");

export function useLiveState(): LiveState {
  return useStore(state);
}

/**
 * Gathers hints and has read again what they are about: rarely while the page is hidden, and at
 * once when it is shown.
 */
function createGatherer(client: QueryClient) {
  let events: DashboardEvent[] = [];
  let timer: number | undefined;
  const read = (): void => {
    clearTimeout(timer);
    const gathered = events;
    [events, timer] = [[], undefined];
    void client.invalidateQueries({ predicate: ({ queryKey }) => isTouched(queryKey, gathered) });
  };
  return {
    add: (event: DashboardEvent): void => {
      events.push(event);
      const waitMs = document.hidden ? HIDDEN_MS : GATHER_MS + Math.random() * SPREAD_MS;
      timer ??= window.setTimeout(read, waitMs);
    },
    show: (): void => {
      if (timer !== undefined && !document.hidden) read();
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

  const events = createGatherer(client);
  const gather = ({ data }: MessageEvent<string>): void =>
    events.add(JSON.parse(data) as DashboardEvent);
  const poll = (): void => {
    state.set("polling");
    const predicate = ({ queryKey }: Query) => isLive(queryKey);
    polling ??= window.setInterval(() => void client.invalidateQueries({ predicate }), POLL_MS);
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
  document.addEventListener("visibilitychange", events.show);
  return () => {
    document.removeEventListener("visibilitychange", events.show);
    source?.close();
    stopPolling();
    clearTimeout(opening);
    events.stop();
    state.set("connecting");
  };
}
