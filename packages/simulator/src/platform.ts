import type { Operation } from "#src/faults/rule.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

/** One endpoint. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the prefix, with `:name` for a parameter. */
  readonly path: string;
  /** Every name under which faults find the call; the first one is logged. */
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  /** Whether `stale_reads` makes it lag. */
  readonly reads?: boolean;
  /** Addresses of media in the call, which are fetched before it is handled. */
  readonly fetches?: (call: Call) => readonly string[];
  /** Does everything in one go: nothing else happens between its reads and its writes. May throw `Refused`. */
  readonly handle: (call: Call, moment: Moment) => Reply;
}

export interface IssuedAccount {
  readonly account: Account;
  /** What a person would type or an OAuth flow would bring. */
  readonly credentials: Readonly<Record<string, string | number>>;
}

/** A social network. A new one is a folder with a factory of this, named in `platforms.ts`. */
export interface Platform {
  /** Also the path prefix. */
  readonly id: string;
  readonly routes: readonly Route[];
  /** A larger body is answered with the platform's 413. */
  readonly maxBodyBytes?: number;
  /** Why a username is impossible here; undefined if it is possible. */
  readonly usernameFault: (username: string) => string | undefined;
  /** Fresh credentials for the account of that name, which is made if it is missing; without a name for a new account. */
  readonly issueAccount: (username: string | undefined) => IssuedAccount;
  /** Whose call it is, as far as its token tells, valid or not. */
  readonly accountOf: (call: Call) => Account | undefined;
  /** The path with secrets taken out. */
  readonly loggedPath: (path: string) => string;
  /** An error in this platform's shape, as it answers that status. */
  readonly errorReply: (status: number, call: Call, now: number) => Reply;
  /** A definite refusal of that call in this platform's words. */
  readonly refusal: (operation: string, call: Call) => Reply;
  readonly notFound: () => Reply;
  /** A fresh id for a reader's comment; absent where comments cannot be read. */
  readonly newCommentId?: (now: number) => string;
}

export type PlatformFactory = (world: World) => Platform;
