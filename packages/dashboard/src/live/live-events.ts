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

/** Follows the stream of changes while it is mounted, and asks every 15 s while there is none. */
export function useLiveEvents(client: QueryClient): void {
  useEffect(() => follow(client), [client]);
}

function follow(client: QueryClient): () => void {
  let source: EventSource | undefined;
  let gathered: DashboardEvent[] = [];
  let gathering: number | undefined;
  let losing: number | undefined;
  let polling: number | undefined;
  let opening: number | undefined;

  const refresh = (): void => {
    const events = gathered;
    gathered = [];
    gathering = undefined;
    void client.invalidateQueries({ predicate: ({ queryKey }) => isTouched(queryKey, events) });
  };
  const gather = ({ data }: MessageEvent<string>): void => {
    gathered.push(JSON.parse(data) as DashboardEvent);
    gathering ??= window.setTimeout(refresh, GATHER_MS);
  };
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
    for (const timer of [gathering, opening]) clearTimeout(timer);
    state.set("connecting");
  };
}
