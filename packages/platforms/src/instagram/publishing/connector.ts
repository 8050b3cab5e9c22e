import { readGraphError, toVisibleFailure } from "#src/graph-api/failures.ts";
import { type GraphApi, toGraphRequest } from "#src/graph-api/graph-request.ts";
import { callPlatform } from "#src/http/call-platform.ts";
import { list, number, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import {
  apiOfAccount,
  type InstagramSettings,
  usesInstagramLogin,
} from "#src/instagram/api-of-account.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { judgeMatchingPosts, searchStart } from "#src/publishing/matching-posts.ts";
import { type DeletionOutcome, type Outcome, toUnanswered } from "#src/publishing/outcome.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import {
  isFailure,
  isWait,
  type PrepareStep,
  runAgain,
  type StepResult,
} from "#src/publishing/steps.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { findPermalink, listAccountMedia, listMatchingMedia } from "./account-media.ts";
import { advanceContainer } from "./advance-container.ts";
import {
  type ContainerPlace,
  findFinal,
  isUsable,
  listPlaces,
  readContainer,
  wasSent,
} from "./container-state.ts";
import { deletePost } from "./delete-post.ts";
import {
  findQuotaFailure,
  MEANINGS,
  toInstagramFailure,
  toQuotaFailure,
} from "./error-meanings.ts";
import { reconcile } from "./reconcile.ts";

/** Instagram's list of posts may be delayed, so it is read several times. */
async function findMatchingPost(
  api: GraphApi,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const entries = await listAccountMedia(api, publication, searchStart(call), signal);
  if (entries === undefined) return repeatLook(call);
  return await judgeMatchingPosts(listMatchingMedia(publication, entries), publication, call);
}

type Goal = "made" | "ready";

function isReached(place: ContainerPlace, goal: Goal, handles: Handles): boolean {
  const container = readContainer(handles, place);
  if (container === undefined || !isUsable(container, handles, Date.now())) return false;
  return container.stage === "ready" || (goal === "made" && container.stage === "processing");
}

/**
 * First the containers of all files, so that Instagram processes them at the same time, then the
 * wait for each file, then the carousel. A container that is lost meanwhile is created again by the
 * running step.
 */
function createContainerSteps(api: GraphApi, files: number): readonly PrepareStep[] {
  const places = listPlaces(files);
  const goals = [
    ...places.filter((place) => place !== "carousel").map((place) => ({ place, goal: "made" })),
    ...places.map((place) => ({ place, goal: "ready" })),
  ] as readonly { readonly place: ContainerPlace; readonly goal: Goal }[];
  return goals.map(({ place, goal }, index) => ({
    name: `${goal} ${place}`,
    isDone: (handles) => isReached(place, goal, handles),
    run: async (publication, handles, signal) => {
      const before = goals.slice(0, index);
      const unreached = before.find((one) => !isReached(one.place, one.goal, handles)) ?? { place };
      const context = { api, publication, place: unreached.place, handles, signal };
      return toProgress(
        await advanceContainer(context),
        (all) => isReached(place, goal, all),
        handles,
      );
    },
  }));
}

/** A step also runs again after progress of another container of the post. */
function toProgress(
  made: StepResult,
  isOver: (handles: Handles) => boolean,
  before: Handles,
): StepResult {
  if (isFailure(made)) return made;
  const wait = isWait(made) ? made : runAgain(made);
  const { handles = {} } = wait;
  return isOver({ ...before, ...handles }) ? handles : wait;
}

const NAME = "limitReadAt";
const MAX_AGE_MS = 5 * 60_000;

interface PublishingLimit {
  readonly used: number;
  readonly total: number;
}

function toLimit(json: unknown): PublishingLimit | undefined {
  const [entry] = list(json, "data");
  const used = number(entry, "quota_usage");
  const total = number(object(entry, "config"), "quota_total");
  return used === undefined || total === undefined ? undefined : { used, total };
}

/**
 * Only a reached limit, or a refused token or permission, stops the post: Instagram itself refuses
 * the publishing call at the limit.
 */
async function readLimit(
  api: GraphApi,
  publication: Publication,
  signal: AbortSignal,
): Promise<StepResult> {
  const path = `${encodeURIComponent(publication.externalId)}/content_publishing_limit`;
  const call = { method: "GET", path, query: { fields: "quota_usage,config" } } as const;
  const answer = await callPlatform(toGraphRequest(api, publication, call), signal);
  const read: Handles = { [NAME]: String(Date.now()) };
  if (answer.kind === "no_answer") return read;
  if (answer.status !== 200) {
    const failure = toInstagramFailure(answer);
    return failure.kind === "retryable" && failure.isLimit !== true ? read : failure;
  }
  const limit = toLimit(answer.json);
  if (limit === undefined || limit.used < limit.total) return read;
  return toQuotaFailure(
    `${limit.used} of ${limit.total} posts were published in the last 24 hours`,
  );
}

function createLimitStep(api: GraphApi): PrepareStep {
  return {
    name: "publishing limit",
    isDone: (handles) => Date.now() - Number(handles[NAME] ?? 0) < MAX_AGE_MS,
    run: (publication, _handles, signal) => readLimit(api, publication, signal),
  };
}

const NOT_READY = 9007;
const NOT_READY_WAIT_MS = 30_000;

const NOT_READY_YET: Outcome = {
  kind: "retryable",
  code: "platform_unavailable",
  message: "Instagram is still processing the media",
};

function toFailedOutcome(answer: PlatformAnswer, isFirstCall: boolean): Outcome {
  const quota = answer.status < 500 ? findQuotaFailure(answer) : undefined;
  if (quota !== undefined && answer.status !== 429) return quota;
  // Instagram may return the error "not ready" also for a container that is already published. The
  // outcome is therefore `pending`, and the container's status decides it later. If Instagram
  // refuses to show this status, the first publishing call is repeated, because no earlier call can
  // have published the container.
  if (readGraphError(answer)?.code === NOT_READY && answer.status < 500)
    return isFirstCall ? NOT_READY_YET : { kind: "pending", afterMs: NOT_READY_WAIT_MS };
  return toVisibleFailure(answer, MEANINGS);
}

async function publishContainer(
  api: GraphApi,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const startedAt = performance.now();
  const container = findFinal(handles, publication.media.length);
  if (container === undefined)
    return { kind: "retryable", code: "internal_error", message: "the media is not ready" };
  const path = `${encodeURIComponent(publication.externalId)}/media_publish`;
  const body = formBody({ creation_id: container.id });
  const request = toGraphRequest(api, publication, { method: "POST", path, body });
  const sent = await sendOnce(request, guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = text(sent.json, "id");
  if (sent.status !== 200 || id === undefined)
    return toFailedOutcome(sent, container.isUnread === true && !wasSent(handles));
  // The permalink must be read before the deadline of the publishing call. After the deadline,
  // another worker determines the outcome of the call.
  const remainingMs = guard.timeoutMs - (performance.now() - startedAt);
  const permalink = await findPermalink(api, publication, id, remainingMs);
  return { kind: "published", externalId: id, permalink };
}

const MAX_RESENDS = 5;

const NOT_DELETED: DeletionOutcome = {
  kind: "refused",
  code: "permission_missing",
  message: "Instagram cannot delete posts of accounts that were connected with Instagram Login",
};

/**
 * A post is created as an invisible container, which is then published once. Instagram fetches
 * images from their public URL; the account's login decides whether videos are uploaded or fetched.
 */
export function createInstagramPublishingConnector(
  settings: InstagramSettings,
): PublishingConnector {
  const apiOf = (account: AccountAccess) => apiOfAccount(settings, account);
  return {
    platform: "instagram",
    maxResends: MAX_RESENDS,
    steps: (publication) => {
      const chosen = apiOf(publication);
      const files = publication.media.length;
      return [createLimitStep(chosen), ...createContainerSteps(chosen, files)];
    },
    publish: (publication, handles, guard) =>
      publishContainer(apiOf(publication), publication, handles, guard),
    reconcile: (publication, handles, call, signal) =>
      reconcile({ api: apiOf(publication), publication, handles, call, signal }),
    findMatchingPost: (publication, _handles, call, signal) =>
      findMatchingPost(apiOf(publication), publication, call, signal),
    canDelete: true,
    delete: async (account, externalId, signal) =>
      usesInstagramLogin(account)
        ? NOT_DELETED
        : await deletePost(apiOf(account), account, externalId, signal),
  };
}
