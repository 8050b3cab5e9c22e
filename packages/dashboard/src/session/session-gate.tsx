import { PostriderError } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { Redirect, useLocation, useSearch } from "wouter";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { prepareScreen } from "../screens.ts";
import { sessionApi } from "./session-api.ts";
import { SessionContext } from "./session-context.ts";
import css from "./session-gate.module.css";

export const SESSION_KEY = ["session"] as const;

/** The login, which leads on to what was asked for. */
function loginOf(asked: string): string {
  return asked === "/" ? "/login" : `/login?to=${encodeURIComponent(asked)}`;
}

/**
 * Shows what is inside to a session only. A session that ends while the page is open takes nothing
 * away: the last answer is kept, and the frame shows a dialog over it.
 */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const [path] = useLocation();
  const search = useSearch();
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the first screen only
  useEffect(() => void prepareScreen(path), []);
  const session = useQuery({ queryKey: SESSION_KEY, queryFn: sessionApi.get });
  // The frame, which says that reads are repeated, is not there yet.
  const { data, failureReason: error, refetch } = session;
  if (data !== undefined) return <SessionContext value={data}>{children}</SessionContext>;
  if (error instanceof PostriderError && error.status === 401)
    return <Redirect to={loginOf(search === "" ? path : `${path}?${search}`)} replace />;
  if (error === null) return null;
  return (
    <main className={css.door}>
      <ErrorNotice error={error} onRetry={() => void refetch()} />
    </main>
  );
}
