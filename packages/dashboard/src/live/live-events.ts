import type { DashboardEvent, DashboardEventType } from "@postrider/rest/dashboard/events";
import type { QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
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
  useEffect(() => {
    let gathered: DashboardEvent[] = [];
    const timers: { gather?: number; lost?: number; poll?: number } = {};
    const refresh = () => {
      const events = gathered;
      gathered = [];
      delete timers.gather;
      void client.invalidateQueries({ predicate: ({ queryKey }) => isTouched(queryKey, events) });
    };
    const pollAll = () => void client.invalidateQueries();
    const lose = () => {
      state.set("polling");
      timers.poll ??= window.setInterval(pollAll, POLL_MS);
    };
    const source = new EventSource("/app/api/events");
    source.addEventListener("open", () => {
      clearTimeout(timers.lost);
      clearInterval(timers.poll);
      delete timers.lost;
      delete timers.poll;
      state.set("live");
    });
    source.addEventListener("error", () => {
      timers.lost ??= window.setTimeout(lose, LOST_AFTER_MS);
    });
    const gather = ({ data }: MessageEvent<string>) => {
      gathered.push(JSON.parse(data) as DashboardEvent);
      timers.gather ??= window.setTimeout(refresh, GATHER_MS);
    };
    for (const type of TYPES) source.addEventListener(type, gather);
    return () => {
      source.close();
      for (const timer of Object.values(timers)) clearTimeout(timer);
      clearInterval(timers.poll);
      state.set("connecting");
    };
  }, [client]);
}
