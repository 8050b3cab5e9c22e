import {
  CalendarDays,
  ChartLine,
  ClockFading,
  Gauge,
  Image,
  KeyRound,
  type LucideIcon,
  MessageSquare,
  Send,
  Users,
  Webhook,
  Workflow,
} from "lucide-react";
import { SCREENS } from "../screens.ts";
import type { frameEn } from "../words/frame-words.ts";

export type ItemName = keyof (typeof frameEn)["items"];

export interface NavigationItem {
  readonly name: ItemName;
  readonly path: `/${string}`;
  readonly icon: LucideIcon;
  /** Without it the item is not shown. */
  readonly scope?: string;
  /** Second key after `G`. */
  readonly key?: string;
  readonly group: 1 | 2 | 3;
}

/** In the order of how often they are used. */
const ITEMS: readonly NavigationItem[] = [
  { name: "posts", path: "/posts", icon: Send, scope: "posts:read", key: "p", group: 1 },
  {
    name: "calendar",
    path: "/calendar",
    icon: CalendarDays,
    scope: "posts:read",
    key: "k",
    group: 1,
  },
  { name: "queue", path: "/queue", icon: ClockFading, scope: "posts:read", key: "q", group: 1 },
  { name: "media", path: "/media", icon: Image, scope: "posts:read", key: "m", group: 1 },
  {
    name: "comments",
    path: "/comments",
    icon: MessageSquare,
    scope: "comments:read",
    key: "i",
    group: 2,
  },
  {
    name: "automations",
    path: "/automations",
    icon: Workflow,
    scope: "automations:read",
    group: 2,
  },
  { name: "metrics", path: "/metrics", icon: ChartLine, scope: "posts:read", group: 2 },
  { name: "accounts", path: "/accounts", icon: Users, scope: "accounts:read", key: "a", group: 3 },
  { name: "webhooks", path: "/webhooks", icon: Webhook, scope: "webhooks:read", group: 3 },
  { name: "keys", path: "/keys", icon: KeyRound, group: 3 },
  { name: "status", path: "/status", icon: Gauge, scope: "posts:read", key: "s", group: 3 },
];

/** The items that the session may use and that have a screen. */
export function listItems(can: (scope: string) => boolean): readonly NavigationItem[] {
  const paths = new Set(SCREENS.map(({ path }) => path.split("/")[1]));
  return ITEMS.filter(
    ({ path, scope }) => paths.has(path.slice(1)) && (scope === undefined || can(scope)),
  );
}
