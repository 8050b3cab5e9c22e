import type { Operation } from "#src/faults/rule.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

/** One endpoint of a platform. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path below the platform's prefix, with `:name` for a parameter. */
  readonly path: string;
  /** Every operation name that fault rules can use for the call. The request log shows the first name. */
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  /** Whether a `stale_reads` rule delays what this endpoint shows. */
  readonly reads?: boolean;
  /** The media URLs in the call. They are fetched before the call is handled. */
  readonly fetches?: (call: Call) => readonly string[];
  /**
   * Handles the call synchronously, so that no other call runs between its reads and its writes. May throw `Refused`.
   */
  readonly handle: (call: Call, moment: Moment) => Reply;
}

export interface IssuedAccount {
  readonly account: Account;
  /** The credentials that a person would enter or that an OAuth flow would return. */
  readonly credentials: Readonly<Record<string, string | number>>;
}

/**
 * A social platform. To add a platform, write a folder with a factory of this type and list the factory in
 * `platforms.ts`.
 */
export interface Platform {
  /** The platform's id, which is also its path prefix. */
  readonly id: string;
  readonly routes: readonly Route[];
  /** Maximum size of a request body. A larger body gets the platform's 413. */
  readonly maxBodyBytes?: number;
  /** Why the platform does not allow this username; undefined when the platform allows it. */
  readonly usernameFault: (username: string) => string | undefined;
  /**
   * Issues new credentials for the account with this username and creates a missing account. Without a username,
   * always creates an account.
   */
  readonly issueAccount: (username: string | undefined) => IssuedAccount;
  /** The account to which the call's token belongs, also when the token is no longer valid. */
  readonly accountOf: (call: Call) => Account | undefined;
  /** The path for the request log, without secrets. */
  readonly loggedPath: (path: string) => string;
  /** The error with this HTTP status in the platform's error format. */
  readonly errorReply: (status: number, call: Call, now: number) => Reply;
  /** A definite refusal of the call, with the platform's own error message. */
  readonly refusal: (operation: string, call: Call) => Reply;
  readonly notFound: () => Reply;
  /** A new id for a reader's comment; absent when the platform does not let an app read comments. */
  readonly newCommentId?: (now: number) => string;
}

export type PlatformFactory = (world: World) => Platform;
