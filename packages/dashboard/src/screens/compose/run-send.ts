import { type PostDetail, PostriderError } from "@postrider/client";
import { isBlocked, isUnanswered } from "../../api/sending.ts";
import { type PostVersion, readPost } from "../../posts/posts-api.ts";
import { type Draft, isOutdated } from "./draft.ts";
import { changesOf } from "./edit-changes.ts";
import {
  changePost,
  createPost,
  findTaken,
  isReused,
  isUnfinished,
  type SendOptions,
  toRequest,
} from "./send-post.ts";

/** What became of a draft that was sent. */
export type Outcome =
  | { readonly kind: "done"; readonly post: PostDetail }
  /** No answer says whether it was taken: the same has to be sent again. */
  | { readonly kind: "lost"; readonly error: unknown }
  /** As `lost`, but sending it again is refused until someone changes something. */
  | { readonly kind: "blocked"; readonly error: unknown }
  | { readonly kind: "refused"; readonly error: unknown }
  /** A request without an answer is so old that the same one could make a second post. */
  | { readonly kind: "outdated" }
  /** An earlier request of this draft was accepted, as it was before its last change. */
  | { readonly kind: "taken"; readonly post: PostDetail }
  /** Someone else has changed the post that is edited. */
  | { readonly kind: "changed"; readonly theirs: PostVersion };

export interface SendDeps {
  /** The post that is edited, as it was read; undefined for a new one. */
  readonly base: PostVersion | undefined;
  /** When the next free slot of the queue is. */
  readonly slot: string | undefined;
  /** Keeps the requests whose answers have not come with the draft. */
  readonly keepAttempts: (attempts: readonly string[]) => void;
  /** The post has a new version, before all of it is done. */
  readonly onVersion: (version: PostVersion) => void;
}

/** Sends a draft once, and says what became of it; nothing is thrown. */
export async function runSend(
  draft: Draft,
  options: SendOptions,
  deps: SendDeps,
): Promise<Outcome> {
  try {
    return deps.base === undefined
      ? await create(draft, options, deps)
      : { kind: "done", post: await edit(draft, options, { ...deps, base: deps.base }) };
  } catch (error) {
    if (isUnanswered(error)) return unanswered(error);
    if (deps.base === undefined || !isOfOtherVersion(error)) return { kind: "refused", error };
    return await compare(draft, options, { ...deps, base: deps.base, error });
  }
}

function unanswered(error: unknown): Outcome {
  return { kind: isBlocked(error) ? "blocked" : "lost", error };
}

/** The post is not what it was when it was read. */
function isOfOtherVersion(error: unknown): error is PostriderError {
  if (!(error instanceof PostriderError)) return false;
  return error.status === 412 || error.code === "invalid_transition";
}

/**
 * The request is kept before it is sent, so that a page that is closed meanwhile can ask for its
 * result. A refused request is forgotten; one without an answer is not.
 */
async function create(draft: Draft, options: SendOptions, deps: SendDeps): Promise<Outcome> {
  if (isOutdated(draft)) return { kind: "outdated" };
  const request = JSON.stringify(toRequest(draft, options));
  const { attempts = [] } = draft;
  const others = attempts.filter((attempt) => attempt !== request);
  deps.keepAttempts([...others, request]);
  try {
    return { kind: "done", post: await createPost(draft.key, request) };
  } catch (error) {
    if (isUnanswered(error, attempts.includes(request))) return unanswered(error);
    deps.keepAttempts(others);
    const earlier = { ...draft, attempts: others };
    const post = isReused(error) ? await findTaken(earlier) : undefined;
    if (post === undefined) throw error;
    return { kind: "taken", post };
  }
}

type EditDeps = SendDeps & { readonly base: PostVersion };

async function edit(
  draft: Draft,
  options: SendOptions,
  { base, slot, onVersion }: EditDeps,
): Promise<PostDetail> {
  return await changePost(draft, options, { base: base.post, slot }, onVersion);
}

/**
 * After a lost answer the version of "someone else" can be one's own, and the post can be on its
 * way. What is left to do for it then is done under the version that was read here.
 */
async function compare(
  draft: Draft,
  options: SendOptions,
  { error: refusal, ...deps }: EditDeps & { readonly error: PostriderError },
): Promise<Outcome> {
  let theirs: PostVersion;
  try {
    theirs = await readPost(deps.base.post.id);
  } catch (error) {
    return isUnanswered(error) ? unanswered(error) : { kind: "refused", error };
  }
  const isMine = Object.keys(changesOf(theirs.post, draft)).length === 0;
  if (isMine && !isUnfinished(theirs.post, draft, options))
    return { kind: "done", post: theirs.post };
  if (refusal.status !== 412) return { kind: "refused", error: refusal };
  if (!isMine) return { kind: "changed", theirs };
  deps.onVersion(theirs);
  return await runSend({ ...draft, etag: theirs.etag }, options, { ...deps, base: theirs });
}
