import { isMissing, readGraphError, toGraphFailure } from "#src/graph-api/failures.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, shorten } from "#src/http/platform-answer.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { refused } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { SIMILAR_POST } from "#src/publishing/search.ts";
import { cannotTell, present, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { type AccountMedia, findMatchingMedia } from "./account-media.ts";
import { type ContainerState, readState } from "./container-calls.ts";
import { dropContainers, findFinal, keepSent } from "./container-state.ts";
import { meaningOfStatus, MEANINGS } from "./error-meanings.ts";

const MINUTE_MS = 60_000;
/**
 * When the second check still finds the container ready to be published, the publishing call had no
 * effect.
 */
const BETWEEN_LOOKS_MS = 2 * MINUTE_MS;
/** A published post that is not listed by then counts as published without a link. */
const LIST_LAG_MS = 10 * MINUTE_MS;

interface ReconcileContext {
  readonly graph: Caller;
  readonly publication: Publication;
  readonly handles: Handles;
  readonly call: UnknownCall;
}

const NOT_FOUND = 24;

const NO_CAPTION = cannotTell("the account has a post without a caption that may be this one");

/** Empty when the list cannot be read. */
async function listMatches({
  graph,
  publication,
  call,
}: ReconcileContext): Promise<readonly AccountMedia[]> {
  const media = await findMatchingMedia(graph, publication, call);
  if ("kind" in media) return [];
  const owned = await call.isOwned(media.map(({ id }) => id));
  return media.filter(({ id }) => !owned.has(id));
}

/** A photo without a caption looks like any other that a person put there by hand. */
const hasCaption = ({ publication }: ReconcileContext): boolean => publication.text.trim() !== "";

/**
 * Instagram does not say which post the container became, so a matching post is taken only if it
 * has the caption and neither a second one nor another Postrider post may be meant.
 */
async function onPublished(context: ReconcileContext): Promise<Verdict> {
  const { call } = context;
  if (!hasCaption(context) || (await call.hasSimilarPost())) return present(null, null);
  const [match, other] = await listMatches(context);
  if (match !== undefined && other === undefined) return present(match.id, match.permalink);
  const sinceMs = call.now.getTime() - call.callUntil.getTime();
  if (other === undefined && sinceMs < LIST_LAG_MS * call.timeScale)
    return repeatLook(call, MINUTE_MS / 2);
  return present(null, null);
}

/** Another container is created, unless Instagram would refuse it again. */
function onError({ handles }: ReconcileContext, status: string): Verdict {
  const meaning = meaningOfStatus(status);
  return meaning === "media_rejected" || meaning === "content_rejected"
    ? refused(meaning, shorten(status))
    : { kind: "absent", handles: dropContainers(handles) };
}

function judge(
  context: ReconcileContext,
  { code, status }: ContainerState,
): Verdict | Promise<Verdict> {
  const { call, handles } = context;
  switch (code) {
    case "PUBLISHED":
      return onPublished(context);
    case "FINISHED":
      if (call.looks > 0) return { kind: "absent", handles: keepSent(handles) };
      return { kind: "look_again", afterMs: BETWEEN_LOOKS_MS * call.timeScale };
    case "ERROR":
      return onError(context, status);
    case "EXPIRED":
      return { kind: "absent", handles: dropContainers(handles) };
    default:
      return repeatLook(call, MINUTE_MS / 2);
  }
}

/** The outcome stays unknown, unless the account has a matching post. */
async function onMissing(context: ReconcileContext): Promise<Verdict> {
  const [match, other] = await listMatches(context);
  if (match === undefined || other !== undefined) return repeatLook(context.call);
  if (!hasCaption(context)) return NO_CAPTION;
  if (await context.call.hasSimilarPost()) return SIMILAR_POST;
  return present(match.id, match.permalink);
}

function onUnread(
  context: ReconcileContext,
  answer: PlatformAnswer | NoAnswer,
): Verdict | Promise<Verdict> {
  if (answer.kind === "no_answer" || answer.status >= 500) return repeatLook(context.call);
  if (isMissing(answer) || readGraphError(answer)?.code === NOT_FOUND) return onMissing(context);
  const failure = toGraphFailure(answer, MEANINGS);
  if (failure === undefined) return repeatLook(context.call);
  // Not shortened by the factor `timeScale` of tests.
  if (failure.kind === "retryable")
    return { kind: "look_again", afterMs: failure.retryAfterMs ?? MINUTE_MS, isIncomplete: true };
  return cannotTell(`Instagram refuses to show the container: ${failure.message}`);
}

export async function reconcile(context: ReconcileContext): Promise<Verdict> {
  const { graph, publication, handles } = context;
  const container = findFinal(handles, publication.media.length);
  if (container === undefined) return cannotTell("the container that was sent is not known");
  const state = await readState(graph, container.id);
  return state.kind === "state" ? await judge(context, state) : await onUnread(context, state);
}
