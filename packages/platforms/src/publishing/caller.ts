import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { bearer, type PlatformRequest, type Query, toSearch } from "#src/http/platform-request.ts";
import type { AccountAccess } from "./publication.ts";

export interface PlatformAddress {
  /** Prefix of all paths. */
  readonly baseUrl: string;
}

/** An account, and the address to which the calls for it go. */
export interface Site extends PlatformAddress {
  readonly account: AccountAccess;
  /** The account's owner chose the host (see `PlatformRequest`). */
  readonly isForeign?: boolean;
}

/** What every call for an account needs. Aborting `signal` ends the calls. */
export interface Caller extends Site {
  readonly signal: AbortSignal;
}

export function openAt(baseUrl: string) {
  return (account: AccountAccess, signal: AbortSignal): Caller => ({ baseUrl, account, signal });
}

export interface ApiCall extends Omit<PlatformRequest, "method" | "url" | "isForeign"> {
  /** Without it, the method is GET. */
  readonly method?: PlatformRequest["method"];
  readonly path: string;
  readonly query?: Query;
  /** Everyone may make the call, so the account's token is not sent. */
  readonly isPublic?: boolean;
}

export function toRequest(
  { baseUrl, account, isForeign = false }: Site,
  { method = "GET", path, query = {}, headers, isPublic = false, ...rest }: ApiCall,
): PlatformRequest {
  return {
    method,
    url: `${baseUrl}/${path}${toSearch(query)}`,
    isForeign,
    headers: { ...(isPublic ? {} : bearer(account.accessToken)), ...headers },
    ...rest,
  };
}

export function ask(caller: Caller, call: ApiCall): Promise<PlatformAnswer | NoAnswer> {
  return callPlatform(toRequest(caller, call), caller.signal);
}

/** Gives functions of a caller the form that the functions of connectors have. */
export function forAccounts<
  C,
  Functions extends Readonly<Record<string, (caller: C, request: never) => unknown>>,
>(
  open: (account: AccountAccess, signal: AbortSignal) => C,
  functions: Functions,
): {
  readonly [Name in keyof Functions]: (
    account: AccountAccess,
    request: Parameters<Functions[Name]>[1],
    signal: AbortSignal,
  ) => ReturnType<Functions[Name]>;
} {
  const entries = Object.entries(functions).map(([name, run]) => [
    name,
    (account: AccountAccess, request: unknown, signal: AbortSignal) =>
      run(open(account, signal), request as never),
  ]);
  return Object.fromEntries(entries) as ReturnType<typeof forAccounts<C, Functions>>;
}
