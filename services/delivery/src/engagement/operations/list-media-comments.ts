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
  /** Maximum number of comments on a page. */
  readonly limit: number;
  readonly state: ListState;
}

interface Page {
  readonly comments: readonly PlatformComment[];
  /** Where the next page continues; undefined on the last page. */
  readonly next: ListState | undefined;
}

const NONE = { kind: "comments", comments: [] } as const;

/**
 * Reads a page of top-level comments, hidden ones included. If the platform leaves hidden comments out of its list or does not
 * say which are hidden, only those that Postrider hid are known to be hidden.
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
  if (connector.readComments === undefined)
    return {
      comments: await withOwnKnowledge(deps.sql, commented, mediaId, page.comments),
      next: page.next === undefined ? undefined : { ...state, after: page.next },
    };
  const media = { ...commented.ref, mediaId };
  const hidden = await listHiddenComments(deps.sql, media, {
    range: rangeOfHidden(page, state),
    limit: limit + 1,
  });
  const visible = selectVisible(page, state);
  const merged = mergeHiddenComments(visible, hidden, { next: page.next, state, limit });
  const comments = await readAll(deps, commented, { mediaId, found: merged.comments }, signal);
  return { comments, next: merged.next };
}

/** Marks as hidden the comments that Postrider hid, for a platform that does not say which ones are hidden. */
async function withOwnKnowledge(
  sql: Sql,
  { ref }: CommentedAccount,
  mediaId: string,
  comments: readonly PlatformComment[],
): Promise<readonly PlatformComment[]> {
  const unsaid = comments.filter(({ hidden }) => hidden === null).map(({ id }) => id);
  if (unsaid.length === 0) return comments;
  const hidden = await findHiddenComments(sql, { ...ref, mediaId }, unsaid);
  return comments.map((comment) => ({
    ...comment,
    hidden: comment.hidden ?? hidden.has(comment.id),
  }));
}

/** Reads the comments of which only the id and the position are known. A comment that no longer exists is left out. */
async function readAll(
  deps: Deps,
  commented: CommentedAccount,
  { mediaId, found }: { mediaId: string; found: readonly (PlatformComment | CommentPosition)[] },
  signal: AbortSignal,
): Promise<readonly PlatformComment[]> {
  const commentIds = found.filter((comment) => !("text" in comment)).map(({ id }) => id);
  const { connector } = commented;
  const { comments } =
    commentIds.length === 0
      ? { comments: [] }
      : await readFromPlatform(
          deps,
          commented,
          async (access) =>
            (await connector.readComments?.(access, { mediaId, commentIds }, signal)) ?? NONE,
        );
  const read = new Map(comments.map((comment) => [comment.id, comment]));
  return found
    .map((comment) => ("text" in comment ? comment : read.get(comment.id)))
    .filter((comment) => comment !== undefined);
}
