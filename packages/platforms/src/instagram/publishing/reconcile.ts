import { isMissing, toGraphFailure } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import { readGraphError } from "#src/graph/graph-error.ts";
import type { NoAnswer } from "#src/http/http.ts";
import { shorten, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Handles, Publication, UnknownCall, Verdict } from "#src/publishing/connector.ts";
import { readState, type ContainerState } from "./container-calls.ts";
import { dropContainers, findFinal, keepSent } from "./containers.ts";
import { meaningOfStatus, MEANINGS } from "./meanings.ts";
import { listOwnMedia, listTwins, type OwnMedia } from "./own-media.ts";

const MINUTE_MS = 60_000;
/** Ready twice so far apart = the call did not come to anything. */
const BETWEEN_LOOKS_MS = 2 * MINUTE_MS;
/** Clock differences between us and Instagram, and seconds that it cuts. */
const BEFORE_CALL_MS = MINUTE_MS;
/** How long the list of the account's posts may lag behind; then the post counts as published without a link. */
const LIST_LAG_MS = 10 * MINUTE_MS;

/** What there is to look for. */
interface Question {
  readonly api: GraphApi;
  readonly publication: Publication;
  readonly handles: Handles;
  readonly call: UnknownCall;
  readonly signal: AbortSignal;
}

/** What Instagram says of a container that it does not find. */
const NOT_FOUND = 24;

/** Nothing was learned: the look does not count. */
function lookAgain({ call }: Question, afterMs = MINUTE_MS): Verdict {
  return { kind: "look_again", afterMs: afterMs * call.timeScale, isIncomplete: true };
}

/** Whatever may be the post among the account's own; undefined when they could not be read. */
async function findTwins(question: Question): Promise<readonly OwnMedia[] | undefined> {
  const { api, publication, call, signal } = question;
  const since = new Date(call.calledAt.getTime() - BEFORE_CALL_MS);
  const entries = await listOwnMedia(api, publication, since, signal);
  if (entries === undefined) return undefined;
  const owned = await call.isOwned(entries.map(({ id }) => id));
  return listTwins(
    publication,
    entries.filter(({ id }) => !owned.has(id)),
  );
}

/** It is there. Which of the account's posts it is, Instagram does not say; only one that cannot be another is adopted. */
async function onPublished(question: Question): Promise<Verdict> {
  const { call } = question;
  const twins = await findTwins(question);
  const [twin, other] = twins ?? [];
  if (twin !== undefined && other === undefined)
    return { kind: "present", externalId: twin.id, permalink: twin.permalink };
  const sinceMs = call.now.getTime() - call.callUntil.getTime();
  if (other === undefined && sinceMs < LIST_LAG_MS * call.timeScale)
    return lookAgain(question, MINUTE_MS / 2);
  return { kind: "present", externalId: null, permalink: null };
}

/** Instagram can make nothing of it any more: another container is made, or it would be refused again. */
function onError({ handles }: Question, status: string): Verdict {
  const meaning = meaningOfStatus(status);
  return meaning === "media_rejected" || meaning === "content_rejected"
    ? { kind: "refused", code: meaning, message: shorten(status) }
    : { kind: "absent", handles: dropContainers(handles) };
}

function judge(question: Question, { code, status }: ContainerState): Verdict | Promise<Verdict> {
  const { call, handles } = question;
  switch (code) {
    case "PUBLISHED":
      return onPublished(question);
    case "FINISHED":
      if (call.looks > 0) return { kind: "absent", handles: keepSent(handles) };
      return { kind: "look_again", afterMs: BETWEEN_LOOKS_MS * call.timeScale };
    case "ERROR":
      return onError(question, status);
    case "EXPIRED":
      return { kind: "absent", handles: dropContainers(handles) };
    default:
      return lookAgain(question, MINUTE_MS / 2);
  }
}

/** A post that is there proves what a container that is not found does not. */
async function onMissing(question: Question): Promise<Verdict> {
  const [twin, other] = (await findTwins(question)) ?? [];
  return twin !== undefined && other === undefined
    ? { kind: "present", externalId: twin.id, permalink: twin.permalink }
    : lookAgain(question);
}

/** The container's status was not read. */
function onUnread(
  question: Question,
  answer: PlatformAnswer | NoAnswer,
): Verdict | Promise<Verdict> {
  if (answer.kind === "no_answer" || answer.status >= 500) return lookAgain(question);
  if (isMissing(answer) || readGraphError(answer)?.code === NOT_FOUND) return onMissing(question);
  const failure = toGraphFailure(answer, MEANINGS);
  if (failure === undefined) return lookAgain(question);
  // Its wait is the platform's own, which no test shortens.
  if (failure.kind === "retryable")
    return { kind: "look_again", afterMs: failure.retryAfterMs ?? MINUTE_MS, isIncomplete: true };
  return { kind: "cannot_tell", message: `the container cannot be read: ${failure.message}` };
}

/** Finds out what became of a container that was sent to be published, by its status and the account's posts. */
export async function reconcileByContainer(question: Question): Promise<Verdict> {
  const { api, publication, handles, signal } = question;
  const container = findFinal(handles, publication.media.length);
  if (container === undefined)
    return { kind: "cannot_tell", message: "it is not known what was sent" };
  const state = await readState(api, publication, container.id, signal);
  return state.kind === "state" ? await judge(question, state) : await onUnread(question, state);
}
