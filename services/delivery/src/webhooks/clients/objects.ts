import type { Client } from "@connectrpc/connect";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { AutomationRun } from "@postrider/contracts/engagement/v1/automation_service_pb";
import type { CommentAction } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import type { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { Locale } from "@postrider/rest/locale";
import { unavailable } from "@postrider/shared/errors";
import type { ISql } from "@postrider/shared/postgres";

export type PostsClient = Pick<Client<typeof PostService>, "batchGetPosts">;

const MAX_REFS = 100;
/** Approximate maximum size of one answer. Posts that do not fit are read with further calls. */
const MAX_BYTES = 2 * 1024 * 1024;

export interface ObjectRef {
  readonly workspaceId: string;
  readonly id: string;
}

/** Large posts of one workspace must not use up the time that a page of events has. */
const MAX_POST_CALLS = 4;

export interface FetchedPosts {
  readonly posts: readonly Post[];
  /** The refs that were not read. */
  readonly left: readonly ObjectRef[];
}

/**
 * Reads posts from the posts service, from the first one on, and stops after some calls or at a
 * call that fails. Throws if none could be read. Posts that no longer exist are missing.
 *
 * @param wanted `locale`: the language of the texts about errors.
 * @param timeoutMs Returns the deadline of the next call.
 */
export async function fetchPosts(
  client: PostsClient,
  { refs, locale }: { readonly refs: readonly ObjectRef[]; readonly locale: Locale },
  timeoutMs: () => number,
): Promise<FetchedPosts> {
  const posts: Post[] = [];
  let next = 0;
  for (let calls = 0; next < refs.length && calls < MAX_POST_CALLS; calls += 1)
    try {
      const page = refs.slice(next, next + MAX_REFS);
      const answer = await client.batchGetPosts(
        { refs: page, maxBytes: MAX_BYTES, locale },
        { timeoutMs: timeoutMs() },
      );
      posts.push(...answer.posts);
      const answered = answer.deferredFrom ?? page.length;
      if (answered === 0) throw new Error("the posts service returned none of the requested posts");
      next += answered;
    } catch (error) {
      if (next === 0) throw error;
      break;
    }
  return { posts, left: refs.slice(next) };
}

export type AccountsClient = Pick<Client<typeof AccountService>, "batchGetAccounts">;

/** Reads accounts, also disconnected ones. Unknown ones are missing in the result. */
export async function fetchAccounts(
  client: AccountsClient,
  refs: readonly ObjectRef[],
  timeoutMs: () => number,
): Promise<readonly Account[]> {
  const named = refs.map(({ workspaceId, id: accountId }) => ({ workspaceId, accountId }));
  return (await client.batchGetAccounts({ refs: named }, { timeoutMs: timeoutMs() })).accounts;
}

export type MediaClient = Pick<Client<typeof MediaService>, "batchGetMedia">;

const MAX_CALLS = 4;

/** With the signed URL of its file. */
export interface MediaWithUrl {
  readonly workspaceId: string;
  readonly id: string;
  readonly media: Media;
  readonly url: string;
}

/**
 * Reads media from the media service, one call per workspace. Deleted media are missing in the
 * result.
 *
 * @param timeoutMs Returns the timeout of the next call in milliseconds.
 */
export async function fetchMedia(
  client: MediaClient,
  refs: readonly ObjectRef[],
  timeoutMs: () => number,
): Promise<readonly MediaWithUrl[]> {
  // The concurrent loops share one iterator, so the media of each workspace are read once.
  const groups = Map.groupBy(refs, (ref) => ref.workspaceId).entries();
  const readGroups = async () => {
    const found: MediaWithUrl[] = [];
    for (const [workspaceId, group] of groups) {
      const ids = group.map(({ id }) => id);
      const request = { workspaceId, ids, withUrls: true };
      const { media, urls } = await client.batchGetMedia(request, { timeoutMs: timeoutMs() });
      for (const each of media) {
        const url = urls[each.id];
        // As the media service of the release before answers.
        if (url === undefined) throw unavailable();
        found.push({ workspaceId, id: each.id, media: each, url });
      }
    }
    return found;
  };
  return (await Promise.all(Array.from({ length: MAX_CALLS }, readGroups))).flat();
}

/**
 * Reads comment actions and runs of automation rules by their ids. They are in the same database,
 * so no RPC is needed; `app.ts` passes the functions in, because `webhooks/` does not import
 * `engagement/`. Unknown ids are missing in the results.
 */
export interface EngagementReader {
  listCommentActions(sql: ISql, refs: readonly ObjectRef[]): Promise<readonly CommentAction[]>;
  listAutomationRuns(sql: ISql, refs: readonly ObjectRef[]): Promise<readonly AutomationRun[]>;
}
