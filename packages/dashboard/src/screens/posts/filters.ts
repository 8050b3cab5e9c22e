import type { CreatedVia, PlatformId, PostStatus } from "@postrider/client";
import { PLATFORMS } from "../../kit/platform-tile.tsx";

export const TABS = ["all", "needs-you", "scheduled", "draft", "published"] as const;
export type Tab = (typeof TABS)[number];
export const RANGES = ["today", "past7", "past30", "next7"] as const;
export type Range = (typeof RANGES)[number];
const VIAS: readonly CreatedVia[] = ["dashboard", "rest", "mcp"];

/** What the list shows. It lies in the address, so that a reload and "back" keep it. */
export interface Filters {
  readonly tab: Tab;
  readonly platform: PlatformId | undefined;
  readonly via: CreatedVia | undefined;
  readonly range: Range | undefined;
}

function oneOf<T extends string>(values: readonly T[], value: string | null): T | undefined {
  return values.find((known) => known === value);
}

export function parseFilters(parameters: URLSearchParams): Filters {
  const get = (name: string) => parameters.get(name);
  return {
    tab: oneOf(TABS, get("tab")) ?? "all",
    platform: oneOf(Object.keys(PLATFORMS) as PlatformId[], get("platform")),
    via: oneOf(VIAS, get("via")),
    range: oneOf(RANGES, get("range")),
  };
}

/** The parameters of filters; what is not set is left out. */
export function toParameters({ tab, platform, via, range }: Filters): Record<string, string> {
  const all = { tab: tab === "all" ? undefined : tab, platform, via, range };
  return Object.fromEntries(
    Object.entries(all).filter((entry) => entry[1] !== undefined),
  ) as Record<string, string>;
}

export function isSet({ platform, via, range }: Filters): boolean {
  return platform !== undefined || via !== undefined || range !== undefined;
}

/** The lists of the interface that a tab is made of; undefined is the list of all posts. */
export function statusesOf(tab: Tab): readonly (PostStatus | undefined)[] {
  if (tab === "all") return [undefined];
  return tab === "needs-you" ? ["failed", "partial"] : [tab];
}

/** First and last day of a range, both inclusive. */
export function daysOf(
  range: Range,
  today: Temporal.PlainDate,
): readonly [Temporal.PlainDate, Temporal.PlainDate] {
  switch (range) {
    case "today":
      return [today, today];
    case "past7":
      return [today.subtract({ days: 6 }), today];
    case "past30":
      return [today.subtract({ days: 29 }), today];
    case "next7":
      return [today, today.add({ days: 6 })];
  }
}
