import type { Operation } from "#src/faults/rule.ts";
import type { Call, Moment, Reply } from "#src/http/call.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly operations: (call: Call) => readonly [Operation, ...Operation[]];
  readonly reads?: boolean;
  /** The simulator fetches these files before it handles the call. */
  readonly fetches?: (call: Call) => readonly string[];
  /**
   * Synchronous, so that no other call runs between its reads and its writes. May throw `Refused`.
   */
  readonly handle: (call: Call, moment: Moment) => Reply;
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
  readonly loggedPath: (path: string) => string;
  readonly errorReply: (status: number, call: Call, now: number) => Reply;
  /** For a `refuse` fault. */
  readonly refusal: (operation: string, call: Call) => Reply;
  readonly notFound: () => Reply;
  readonly newCommentId?: (now: number, postId: string) => string;
  /** As the account's owner sees them. */
  readonly commentsOf?: (account: Account) => readonly ShownComment[];
  readonly privateRepliesOf?: (account: Account) => readonly SentPrivateReply[];
}

export type PlatformFactory = (world: World) => Platform;
