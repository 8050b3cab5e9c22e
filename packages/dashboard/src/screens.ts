import { type ComponentType, lazy } from "react";

export interface Screen {
  /** Below /app; `:name` is a parameter. */
  readonly path: `/${string}`;
  readonly Component: ComponentType;
}

/** A screen is loaded when it is opened first; files of its own, so that each stays small. */
function screen<N extends string>(
  path: `/${string}`,
  name: N,
  load: () => Promise<Readonly<Record<N, ComponentType>>>,
): Screen {
  return { path, Component: lazy(async () => ({ default: toComponent((await load())[name]) })) };
}

/** `lazy` wants a component whose props it knows. */
function toComponent(component: ComponentType): ComponentType {
  return component;
}

/** Every screen inside the frame: one line each. The frame shows the first path that matches. */
export const SCREENS: readonly Screen[] = [
  screen("/posts/new", "ComposeScreen", () => import("./screens/compose/compose-screen.tsx")),
  screen("/posts/:id/edit", "ComposeScreen", () => import("./screens/compose/compose-screen.tsx")),
  screen("/posts", "PostsScreen", () => import("./screens/posts/posts-screen.tsx")),
  screen("/posts/:id", "PostScreen", () => import("./screens/post/post-screen.tsx")),
  screen("/start", "StartScreen", () => import("./screens/start/start-screen.tsx")),
  screen("/calendar", "CalendarScreen", () => import("./screens/calendar/calendar-screen.tsx")),
  screen("/queue", "QueueScreen", () => import("./screens/queue/queue-screen.tsx")),
  screen("/status", "StatusScreen", () => import("./screens/status/status-screen.tsx")),
  screen("/comments", "CommentsScreen", () => import("./screens/comments/comments-screen.tsx")),
  screen(
    "/automations",
    "AutomationsScreen",
    () => import("./screens/automations/automations-screen.tsx"),
  ),
  screen("/metrics", "MetricsScreen", () => import("./screens/metrics/metrics-screen.tsx")),
  screen("/accounts", "AccountsScreen", () => import("./screens/accounts/accounts-screen.tsx")),
  screen("/webhooks", "WebhooksScreen", () => import("./screens/webhooks/webhooks-screen.tsx")),
  screen("/keys", "KeysScreen", () => import("./screens/keys/keys-screen.tsx")),
  screen("/media", "MediaScreen", () => import("./screens/media/media-screen.tsx")),
];
