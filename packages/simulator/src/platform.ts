import type { Operation } from "#src/faults/rule.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

/** Fault rules can match a call by each of these names; the request log shows the first. */
export type Operations = readonly [Operation, ...Operation[]];

type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface Route {
  readonly method: Method;
  /** Below the platform's prefix, with `:name` for a path parameter. */
  readonly path: string;
  readonly operations: (call: Call) => Operations;
  /** The URLs of files that the simulator fetches before it handles the call. */
  readonly fetches?: ((call: Call) => readonly string[]) | undefined;
  /**
   * Synchronous, so that no other call runs between its reads and its writes. May throw `Refused`.
   */
  readonly handle: (call: Call, moment: Moment) => Reply;
}

/**
 * One line in a platform's table of endpoints. Its handler gets a call that the platform has
 * checked.
 */
export interface Endpoint<Network, PlatformCall> {
  readonly method: Method;
  readonly path: string;
  readonly operations: (call: Call, network: Network) => Operations;
  readonly handle: (network: Network, call: PlatformCall) => Reply;
}

/**
 * An endpoint at `METHOD /path`. `rules` are what else the platform checks or does for its calls,
 * such as scopes and limits.
 */
export function on<Network, PlatformCall, Rules = unknown>(
  address: `${Method} ${string}`,
  operations: Operations | ((call: Call, network: Network) => Operations),
  handle: (network: Network, call: PlatformCall) => Reply,
  rules?: Rules,
): Endpoint<Network, PlatformCall> & Rules {
  const [method, path] = address.split(" ", 2) as [Method, string];
  const named = typeof operations === "function" ? operations : () => operations;
  return { method, path, operations: named, handle, ...(rules as Rules) };
}

/** The routes of a platform's endpoints; `serve` checks a call and lets the endpoint handle it. */
export function toRoutes<Network, Line extends Endpoint<Network, never>>(
  network: Network,
  endpoints: readonly Line[],
  serve: (network: Network, endpoint: Line, call: Call, moment: Moment) => Reply,
): readonly Route[] {
  return endpoints.map((endpoint) => ({
    ...endpoint,
    operations: (call) => endpoint.operations(call, network),
    handle: (call, moment) => serve(network, endpoint, call, moment),
  }));
}

/** A check of usernames by a pattern; `advice` says what the pattern allows. */
export function usernameCheck(pattern: RegExp, advice: string): Platform["usernameFault"] {
  return (username) => (pattern.test(username) ? undefined : advice);
}

export interface IssuedAccount {
  readonly account: Account;
  readonly credentials: Readonly<Record<string, string | number>>;
}

export interface ShownComment {
  readonly id: string;
  /** Id of the post; for a reply, id of the comment that it answers. */
  readonly mediaId: string;
  readonly author: string;
  readonly text: string;
  readonly hidden: boolean;
  readonly createdAt: number;
}

export interface SentPrivateReply {
  readonly commentId: string;
  readonly text: string;
  readonly sentAt: number;
}

/**
 * A simulated social platform. To add a platform, write a folder with a factory of this type and
 * list the factory in `platforms.ts`.
 */
export interface Platform {
  readonly id: string;
  readonly routes: readonly Route[];
  readonly maxBodyBytes?: number;
  /** Undefined when the platform allows the username. */
  readonly usernameFault: (username: string) => string | undefined;
  /**
   * Without a username, always creates an account. Of the given permissions, the credentials have
   * those that the platform has.
   */
  readonly issueAccount: (
    username: string | undefined,
    permissions?: readonly string[],
  ) => IssuedAccount;
  /** Also when the token is no longer valid. */
  readonly accountOf: (call: Call) => Account | undefined;
  /** Without secrets; absent when no path of the platform has any. */
  readonly loggedPath?: (path: string) => string;
  readonly errorReply: (status: number, call: Call, now: number) => Reply;
  /** Makes the answer of a `refuse` fault. */
  readonly refusal: (operation: string, call: Call) => Reply;
  readonly notFound: () => Reply;
  readonly newCommentId?: (now: number, postId: string) => string;
  /** As the account's owner sees them. */
  readonly commentsOf?: (account: Account) => readonly ShownComment[];
  readonly privateRepliesOf?: (account: Account) => readonly SentPrivateReply[];
}

/** What the pages and calls of OAuth need of a platform. */
export type AccountIssuer = Pick<Platform, "id" | "usernameFault" | "issueAccount">;

export type PlatformFactory = (world: World) => Platform;
