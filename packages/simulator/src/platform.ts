import type { Operation } from "#src/faults/rule.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

/** One endpoint of a simulated platform. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path of the endpoint below the platform's prefix, with `:name` for a path parameter. */
  readonly path: string;
  /**
   * Every operation name by which fault rules can match the call. The request log shows the first
   * name.
   */
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  /** Whether this endpoint returns older state while a `stale_reads` fault rule applies. */
  readonly reads?: boolean;
  /**
   * The URLs of media files in the platform call. The simulator fetches the files before it handles
   * the call.
   */
  readonly fetches?: (call: Call) => readonly string[];
  /**
   * Handles a platform call synchronously, so that no other call runs between its reads and its
   * writes. May throw `Refused` to answer with an error.
   */
  readonly handle: (call: Call, moment: Moment) => Reply;
}

export interface IssuedAccount {
  readonly account: Account;
  /**
   * The credentials of a simulated account: those that a user would enter or that an OAuth
   * authorization would return.
   */
  readonly credentials: Readonly<Record<string, string | number>>;
}

/** A comment, or a reply to a comment, as the control API shows it. */
export interface ShownComment {
  readonly id: string;
  /** Id of the post that has the comment; for a reply, id of the comment that it answers. */
  readonly mediaId: string;
  readonly author: string;
  readonly text: string;
  readonly hidden: boolean;
  /** Time of the comment in Unix milliseconds of the simulator's clock. */
  readonly createdAt: number;
}

/** A private reply to the author of a comment, as the control API shows it. */
export interface SentPrivateReply {
  readonly commentId: string;
  readonly text: string;
  /** Time of the private reply in Unix milliseconds of the simulator's clock. */
  readonly sentAt: number;
}

/**
 * A simulated social platform. To add a platform, write a folder with a factory of this type and
 * list the factory in `platforms.ts`.
 */
export interface Platform {
  /** The platform's id, which is also the prefix of its paths in the simulator. */
  readonly id: string;
  readonly routes: readonly Route[];
  /**
   * Maximum size of a request body in bytes. The platform answers a larger body with its own 413
   * error.
   */
  readonly maxBodyBytes?: number;
  /** Why the platform does not allow a username; undefined when the platform allows it. */
  readonly usernameFault: (username: string) => string | undefined;
  /**
   * Issues new credentials for the simulated account with the given username, and creates the account if it does not
   * exist. Without a username, always creates an account. The credentials have those of the given permissions that
   * exist on the platform; without `permissions`, all permissions of the platform.
   */
  readonly issueAccount: (
    username: string | undefined,
    permissions?: readonly string[],
  ) => IssuedAccount;
  /**
   * Returns the account to which the token of a platform call belongs, also when the token is no
   * longer valid.
   */
  readonly accountOf: (call: Call) => Account | undefined;
  /** Returns the path of a platform call as the request log shows it, without secrets. */
  readonly loggedPath: (path: string) => string;
  /**
   * Returns the error response of the simulated platform for an HTTP status, in the platform's
   * error format.
   */
  readonly errorReply: (status: number, call: Call, now: number) => Reply;
  /**
   * The response with which the simulated platform permanently refuses a call, with the platform's
   * own error message.
   */
  readonly refusal: (operation: string, call: Call) => Reply;
  readonly notFound: () => Reply;
  /**
   * Generates the id of a reader's comment on a post; absent when the platform does not let apps
   * read comments.
   */
  readonly newCommentId?: (now: number, postId: string) => string;
  /**
   * The comments on an account's posts and the account's replies, as the account's owner sees them; absent when the control
   * API does not show comments of the platform.
   */
  readonly commentsOf?: (account: Account) => readonly ShownComment[];
  /** The private replies that an account has sent; absent when the platform has no private replies. */
  readonly privateRepliesOf?: (account: Account) => readonly SentPrivateReply[];
}

export type PlatformFactory = (world: World) => Platform;
