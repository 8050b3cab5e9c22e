import type { PlatformComment } from "@postrider/platforms/comments/connector";
import type { Sql } from "@postrider/shared/postgres";
import { findHiddenComments, listHiddenComments } from "#src/engagement/db/hidden-comments.ts";
import {
  mergeHiddenComments,
  rangeOfHidden,
  selectVisible,
  type CommentPosition,
  type ListState,
} from "#src/engagement/domain/merge-hidden-comments.ts";
import { readFromPlatform, type CommentedAccount, type ReadDeps } from "./read-platform.ts";

type Deps = ReadDeps & { readonly sql: Sql };

interface Query {
  readonly mediaId: string;
  /** Maximum number of comments on the page. */
  readonly limit: number;
  readonly state: ListState;
}

interface Page {
  readonly comments: readonly PlatformComment[];
  /** Undefined on the last page. */
  readonly next: ListState | undefined;
}

/** Maximum number of hidden comments that are read from the platform at the same time. */
const MAX_READS = 5;

/**
 * Reads a page of top-level comments, hidden ones included. Where the platform leaves hidden comments out of its list or does not
 * say which are hidden, those that Postrider hid are known.
 */
export async function listMediaComments(
  deps: Deps,
  commented: CommentedAccount,
  query: Query,
  signal: AbortSignal,
): Promise<Page> {
  const { connector } = commented;
  const { mediaId, limit, state } = query;
  const page = await readFromPlatform(deps, commented, (access) =>
    connector.listComments(access, { mediaId, limit, after: state.after }, signal),
  );
  if (connector.omitsHidden !== true)
    return {
      comments: await withOwnKnowledge(deps.sql, commented, mediaId, page.comments),
      next: page.next === undefined ? undefined : { ...state, after: page.next },
    };
  const media = { accountId: commented.ref.accountId, mediaId };
  const hidden = await listHiddenComments(deps.sql, media, {
    range: rangeOfHidden(page, state),
    limit: limit + 1,
  });
  const visible = selectVisible(page, state);
  const merged = mergeHiddenComments(visible, hidden, { next: page.next, state, limit });
  const comments = await readAll(deps, commented, { mediaId, found: merged.comments }, signal);
  return { comments, next: merged.next };
}

/** Completes comments of a platform that does not say which of them are hidden. */
async function withOwnKnowledge(
  sql: Sql,
  { ref: { accountId } }: CommentedAccount,
  mediaId: string,
  comments: readonly PlatformComment[],
): Promise<readonly PlatformComment[]> {
  const unsaid = comments.filter(({ hidden }) => hidden === null).map(({ id }) => id);
  if (unsaid.length === 0) return comments;
  const hidden = await findHiddenComments(sql, { accountId, mediaId }, unsaid);
  return comments.map((comment) => ({
    ...comment,
    hidden: comment.hidden ?? hidden.has(comment.id),
  }));
}

/** Reads the comments of which only the place is known. One that no longer exists is left out. */
async function readAll(
  deps: Deps,
  commented: CommentedAccount,
  { mediaId, found }: { mediaId: string; found: readonly (PlatformComment | CommentPosition)[] },
  signal: AbortSignal,
): Promise<readonly PlatformComment[]> {
  const comments: (PlatformComment | undefined)[] = [];
  const waiting = [...found.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, comment] = next;
      comments[index] =
        "text" in comment
          ? comment
          : await findComment(deps, commented, { mediaId, commentId: comment.id }, signal);
    }
  };
  await Promise.all(Array.from({ length: MAX_READS }, work));
  return comments.filter((comment) => comment !== undefined);
}

async function findComment(
  deps: Deps,
  commented: CommentedAccount,
  ref: { readonly mediaId: string; readonly commentId: string },
  signal: AbortSignal,
): Promise<PlatformComment | undefined> {
  const read = await readFromPlatform<Found>(deps, commented, async (access) => {
    const result = await commented.connector.readComment(access, ref, signal);
    return result.kind === "missing" ? { kind: "comment", comment: undefined } : result;
  });
  return read.comment;
}

interface Found {
  readonly kind: "comment";
  readonly comment: PlatformComment | undefined;
}
