import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Activity, lazy, Suspense, useEffect, useState } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { Skeleton } from "../kit/empty-state.tsx";
import { ToastBar } from "../kit/toast.tsx";
import { useLiveEvents } from "../live/live-events.ts";
import { postsApi } from "../posts/posts-api.ts";
import { refusedMove } from "../posts/refused-moves.ts";
import { prepareFrequentScreens, SCREENS } from "../screens.ts";
import { useCan } from "../session/session-context.ts";
import { useStore } from "../settings/create-store.ts";
import { frameWords } from "../words/frame-words.ts";
import { useWords } from "../words/use-words.ts";
import { ConnectionNotes } from "./connection-notes.tsx";
import { aheadPath, leaveScreen } from "./draw-ahead.ts";
import { ErrorBoundary } from "./error-boundary.tsx";
import css from "./frame.module.css";
import { KeyList } from "./key-list.tsx";
import { NotFound } from "./not-found.tsx";
import { SessionEnded } from "./session-ended.tsx";
import { Sidebar } from "./sidebar.tsx";
import { TabBar } from "./tab-bar.tsx";
import { useArrival } from "./use-arrival.ts";
import { useCounts } from "./use-counts.ts";
import { useFrameKeys } from "./use-frame-keys.ts";

/** The first screen is drawn by then. */
const PREPARE_AFTER_MS = 1_000;

/** So that a click draws the calendar and others at once. */
function usePreparedScreens(): void {
  const canRead = useCan()("posts:read");
  useEffect(() => {
    if (!canRead) return undefined;
    const timer = setTimeout(() => void prepareFrequentScreens(), PREPARE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [canRead]);
}

/**
 * What stands around every screen: navigation, keys, live changes, and notes about the connection.
 */
export function Frame() {
  const words = useWords(frameWords);
  const [isKeyListOpen, setKeyListOpen] = useState(false);
  const showKeys = () => setKeyListOpen(true);
  const counts = useCounts();
  useLiveEvents(useQueryClient());
  useFrameKeys(showKeys);
  usePreparedScreens();
  return (
    <>
      <a className={css.skip} href="#main">
        {words.skip}
      </a>
      <div className={css.app}>
        <Sidebar counts={counts} onShowKeys={showKeys} />
        <main className={css.main} id="main" tabIndex={-1}>
          <ConnectionNotes />
          <Screens />
        </main>
        <TabBar counts={counts} onShowKeys={showKeys} />
      </div>
      <ToastBar />
      <SessionEnded />
      <Refused />
      {isKeyListOpen && <KeyList onClose={() => setKeyListOpen(false)} />}
    </>
  );
}

const RefusedMove = lazy(async () => {
  const { RefusedMove: Component } = await import("../posts/refused-move.tsx");
  return { default: Component };
});

/** An undo can be refused after one has gone to another screen. */
function Refused() {
  const refused = useStore(refusedMove);
  return (
    refused && (
      <Suspense>
        <RefusedMove {...refused} />
      </Suspense>
    )
  );
}

/** The posts; a workspace without an account begins with the way to its first post. */
function Landing() {
  const { data, isError } = useQuery(postsApi.accounts());
  if (data === undefined && !isError) return <Skeleton />;
  return <Redirect to={data?.accounts.length === 0 ? "/start" : "/posts"} replace />;
}

/** The screen at the address, and out of sight the one that a press is about to open. */
function Screens() {
  const [path] = useLocation();
  const ahead = useStore(aheadPath);
  useArrival(path);
  useEffect(leaveScreen, [path]);
  const paths = ahead === undefined || ahead === path ? [path] : [path, ahead];
  return paths.map((each) => (
    <Activity key={each} mode={each === path ? "visible" : "hidden"}>
      <ErrorBoundary>
        <Suspense fallback={<Skeleton />}>
          <ScreenAt path={each} />
        </Suspense>
      </ErrorBoundary>
    </Activity>
  ));
}

function ScreenAt({ path }: { readonly path: string }) {
  return (
    <Switch location={path}>
      <Route path="/">
        <Landing />
      </Route>
      {SCREENS.map(({ path: screenPath, Component }) => (
        <Route key={screenPath} path={screenPath}>
          <Component />
        </Route>
      ))}
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
