import { readGraphError, toVisibleFailure } from "#src/graph-api/failures.ts";
import { edgeOf, toGraphSite } from "#src/graph-api/graph-request.ts";
import { list, number, object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import {
  apiOfAccount,
  type InstagramSettings,
  openOfAccount,
  usesInstagramLogin,
} from "#src/instagram/api-of-account.ts";
import { ask, type Caller, type Site, toRequest } from "#src/publishing/caller.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { notPrepared, type Outcome, refused, toUnanswered } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { judgeMatchingPosts } from "#src/publishing/search.ts";
import {
  isFailure,
  isWait,
  type PrepareStep,
  runAgain,
  type StepResult,
} from "#src/publishing/steps.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { findMatchingMedia, findPermalink } from "./account-media.ts";
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
  graph: Caller,
  publication: Publication,
  call: UnknownCall,
): Promise<Verdict> {
  const media = await findMatchingMedia(graph, publication, call);
  return "kind" in media ? media : await judgeMatchingPosts(media, publication, call);
}

type Open = ReturnType<typeof openOfAccount>;
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
function createContainerSteps(open: Open, files: number): readonly PrepareStep[] {
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
      const graph = open(publication, signal);
      const context = { graph, publication, place: unreached.place, handles };
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
async function readLimit(graph: Caller): Promise<StepResult> {
  const path = edgeOf(graph.account, "content_publishing_limit");
  const answer = await ask(graph, { path, query: { fields: "quota_usage,config" } });
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

function createLimitStep(open: Open): PrepareStep {
  return {
    name: "publishing limit",
    isDone: (handles) => Date.now() - Number(handles[NAME] ?? 0) < MAX_AGE_MS,
    run: (publication, _handles, signal) => readLimit(open(publication, signal)),
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
  site: Site,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const startedAt = performance.now();
  const container = findFinal(handles, publication.media.length);
  if (container === undefined) return notPrepared("the media is not ready");
  const path = edgeOf(publication, "media_publish");
  const body = formBody({ creation_id: container.id });
  const sent = await sendOnce(toRequest(site, { method: "POST", path, body }), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = text(sent.json, "id");
  if (sent.status !== 200 || id === undefined)
    return toFailedOutcome(sent, container.isUnread === true && !wasSent(handles));
  // The permalink must be read before the deadline of the publishing call. After the deadline,
  // another worker determines the outcome of the call.
  const remainingMs = guard.timeoutMs - (performance.now() - startedAt);
  const permalink = await findPermalink(site, id, remainingMs);
  return { kind: "published", externalId: id, permalink };
}

const MAX_RESENDS = 5;

const NOT_DELETED = refused(
  "permission_missing",
  "Instagram cannot delete posts of accounts that were connected with Instagram Login",
);

/**
 * A post is created as an invisible container, which is then published once. Instagram fetches
 * images from their public URL; the account's login decides whether videos are uploaded or fetched.
 */
export function createInstagramPublishingConnector(
  settings: InstagramSettings,
): PublishingConnector {
  const open = openOfAccount(settings);
  return {
    platform: "instagram",
    maxResends: MAX_RESENDS,
    steps: ({ media }) => [createLimitStep(open), ...createContainerSteps(open, media.length)],
    publish: (publication, handles, guard) => {
      const site = toGraphSite(apiOfAccount(settings, publication), publication);
      return publishContainer(site, publication, handles, guard);
    },
    reconcile: (publication, handles, call, signal) =>
      reconcile({ graph: open(publication, signal), publication, handles, call }),
    findMatchingPost: (publication, _handles, call, signal) =>
      findMatchingPost(open(publication, signal), publication, call),
    canDelete: true,
    delete: async (account, externalId, signal) =>
      usesInstagramLogin(account)
        ? NOT_DELETED
        : await deletePost(open(account, signal), externalId),
  };
}
