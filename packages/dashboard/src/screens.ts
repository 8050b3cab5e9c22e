import { type ComponentType, createElement, lazy, useState } from "react";

export interface Screen {
  /** Below /app; `:name` is a parameter. */
  readonly path: `/${string}`;
  readonly Component: ComponentType;
  /** Loads its files, and what it reads first if it says so. */
  readonly prepare: () => Promise<void>;
}

type Module<N extends string> = Readonly<Record<N, ComponentType>> & {
  readonly prepare?: () => void | Promise<void>;
};

/**
 * A screen is loaded when it is opened first; files of its own, so that each stays small. One that
 * is loaded already is drawn without `lazy`: that shows a fallback first, if only for a moment, and
 * React leaves a fallback in place for 300 ms.
 */
function screen<N extends string>(
  path: `/${string}`,
  name: N,
  importModule: () => Promise<Module<N>>,
): Screen {
  let loaded: ComponentType | undefined;
  const load = async () => {
    const module = await importModule();
    loaded = toComponent(module[name]);
    return module;
  };
  const Lazy = lazy(async () => ({ default: toComponent((await load())[name]) }));
  return {
    path,
    Component: function LoadedOrLazy() {
      const [Shown] = useState<ComponentType>(() => loaded ?? Lazy);
      return createElement(Shown);
    },
    // A file that cannot be loaded now is asked for again when the screen is opened.
    prepare: async () =>
      await load().then(
        ({ prepare }) => prepare?.(),
        () => undefined,
      ),
  };
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

/**
 * Prepares the screen at a path, before a click on its link has ended or before the session is
 * known; without one there the posts, to which the page goes from its root.
 */
export async function prepareScreen(path: string): Promise<void> {
  const isAt = (screen: Screen) =>
    new RegExp(`^${screen.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(path);
  const found = SCREENS.find(isAt) ?? SCREENS.find((screen) => screen.path === "/posts");
  await found?.prepare();
}

/** Where readers of posts go most, also by a key, from a list or without a pointer. */
const FREQUENT = ["/calendar", "/posts/:id", "/posts/new"];

/** Prepares one screen after the other, so that the page's own requests need not wait for them. */
export async function prepareFrequentScreens(): Promise<void> {
  for (const path of FREQUENT) await prepareScreen(path);
}
