import { type GraphMeaning, isMissing, readGraphError } from "#src/graph-api/failures.ts";
import { edgeOf } from "#src/graph-api/graph-request.ts";
import { isUploadUrl, pushBytes } from "#src/graph-api/push-bytes.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { instagram } from "#src/instagram/facts.ts";
import { refuseLongAltText } from "#src/publishing/alt-text.ts";
import { ask } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { MAX_PROCESSING_MS, STILL_PROCESSING } from "#src/publishing/look-schedule.ts";
import { type Failure, refused, type TargetErrorCode } from "#src/publishing/outcome.ts";
import { fileAt } from "#src/publishing/publication.ts";
import { runAgain, type StepResult, type StepWait } from "#src/publishing/steps.ts";
import { isUploaded, readState } from "./container-calls.ts";
import {
  type Container,
  type ContainerContext,
  describeContainer,
  isReadyUnread,
  isUsable,
  listChildren,
  listPlaces,
  readContainer,
  toHandle,
  toUnread,
} from "./container-state.ts";
import { meaningOfStatus, toInstagramFailure } from "./error-meanings.ts";

const MAX_CHECK_MS = 60_000;
const RESTARTS_AFTER_MS = [5000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000];

/** Instagram's error code for a media container that it does not find. */
const NOT_FOUND = 24;

function next({ place }: ContainerContext, container: Container, afterMs = 0): StepWait {
  return runAgain(toHandle(place, container), afterMs);
}

/** After a wait. When too many containers were discarded, the post fails with the given error. */
function restart(
  context: ContainerContext,
  container: Container,
  code: TargetErrorCode,
  message: string,
): StepWait | Failure {
  const afterMs = RESTARTS_AFTER_MS[container.restarts];
  if (afterMs === undefined) return refused(code, message);
  const restarts = container.restarts + 1;
  return next(context, { ...container, stage: "lost", restarts }, afterMs);
}

function isLostPart({ place }: ContainerContext, answer: PlatformAnswer): boolean {
  return place === "carousel" && readGraphError(answer)?.code === NOT_FOUND;
}

function dropParts(context: ContainerContext, answer: PlatformAnswer): StepWait | Failure {
  let dropped: Handles = {};
  for (const place of listPlaces(context.publication.media.length)) {
    const part = readContainer(context.handles, place);
    if (part === undefined) continue;
    const { message } = toInstagramFailure(answer);
    const again = restart({ ...context, place }, part, "platform_unavailable", message);
    if (again.kind !== "wait") return again;
    dropped = { ...dropped, ...again.handles };
  }
  return { kind: "wait", afterMs: RESTARTS_AFTER_MS[0] ?? 0, handles: dropped };
}

async function create(context: ContainerContext, restarts: number): Promise<StepResult> {
  const { graph, publication, place } = context;
  const refusal =
    place === "carousel"
      ? undefined
      : refuseLongAltText(instagram.rules, fileAt(publication, place));
  if (refusal !== undefined) return refusal;
  const body = formBody(describeContainer(context));
  const answer = await ask(graph, { method: "POST", path: edgeOf(publication, "media"), body });
  if (answer.kind === "no_answer") return toInstagramFailure(answer);
  const id = text(answer.json, "id");
  if (answer.status === 200 && id !== undefined)
    return next(
      context,
      toContainer(context, { id, restarts, uri: text(answer.json, "uri") ?? "" }),
    );
  return isLostPart(context, answer) ? dropParts(context, answer) : toInstagramFailure(answer);
}

function toContainer(
  { publication, place, handles }: ContainerContext,
  { id, restarts, uri }: Pick<Container, "id" | "restarts"> & { readonly uri: string },
): Container {
  const isPushed = place !== "carousel" && isUploaded(publication, fileAt(publication, place));
  const now = Date.now();
  return {
    id,
    stage: isPushed ? "announced" : "processing",
    uploadUrl: isPushed ? uri : "",
    madeAt: now,
    checks: 0,
    patientUntil: now + MAX_PROCESSING_MS,
    restarts,
    children: place === "carousel" ? listChildren(handles, publication.media.length) : [],
  };
}

/**
 * Instagram does not document how to continue an interrupted upload, so another container is
 * created after an interruption.
 */
async function push(context: ContainerContext, container: Container): Promise<StepResult> {
  const { graph, publication, place } = context;
  const { uploadUrl: url } = container;
  if (!isUploadUrl(graph, url))
    return refused("app_configuration", "the upload URL is not on the configured upload host");
  const result = await pushBytes(graph, url, fileAt(publication, Number(place)), 0);
  switch (result.kind) {
    case "uploaded":
      return next(context, {
        ...container,
        stage: "processing",
        patientUntil: Date.now() + MAX_PROCESSING_MS,
      });
    case "interrupted":
      return restart(context, container, "platform_unavailable", result.message);
    case "rejected":
      return restart(context, container, "media_rejected", result.message);
    case "token_refused":
      return result;
  }
}

/** Another container for the same file may succeed. */
const CONTAINER_ERRORS: ReadonlySet<GraphMeaning> = new Set<GraphMeaning>([
  "token",
  "limit",
  "missing",
  "transient",
]);

/** Another container or a failure. */
function onError(
  context: ContainerContext,
  container: Container,
  status: string,
): StepWait | Failure {
  const meaning = meaningOfStatus(status);
  const message = shorten(status) || "Instagram could not process the media";
  if (CONTAINER_ERRORS.has(meaning)) return restart(context, container, "media_rejected", message);
  if (meaning === "media_fetch_failed") return restart(context, container, meaning, message);
  return refused(meaning as TargetErrorCode, message);
}

function goOnWaiting(context: ContainerContext, container: Container): StepWait | Failure {
  if (Date.now() > container.patientUntil) return STILL_PROCESSING;
  const checks = container.checks + 1;
  return next(context, { ...container, checks }, Math.min(1000 * 2 ** (checks - 1), MAX_CHECK_MS));
}

function onMissing(context: ContainerContext, container: Container): StepResult {
  const { publication, place, handles } = context;
  const misses = (container.misses ?? 0) + 1;
  return isReadyUnread(publication, place, handles, misses)
    ? toHandle(place, toUnread(container, misses))
    : goOnWaiting(context, { ...container, misses });
}

function onUnread(
  context: ContainerContext,
  container: Container,
  answer: PlatformAnswer | NoAnswer,
): StepResult {
  if (answer.kind === "no_answer") return goOnWaiting(context, container);
  if (isMissing(answer)) return onMissing(context, container);
  const failure = toInstagramFailure(answer);
  const isTemporary = failure.kind === "retryable" && failure.isLimit !== true;
  return isTemporary ? goOnWaiting(context, container) : failure;
}

async function look(context: ContainerContext, container: Container): Promise<StepResult> {
  const state = await readState(context.graph, container.id);
  if (state.kind !== "state") return onUnread(context, container, state);
  switch (state.code) {
    case "FINISHED":
    // Published by an earlier call. The steps run again only when repeating that call is harmless,
    // so the container counts as ready.
    case "PUBLISHED":
      return toHandle(context.place, { ...container, stage: "ready" });
    case "ERROR":
      return onError(context, container, state.status);
    case "EXPIRED":
      return restart(context, container, "platform_unavailable", "the container expired");
    default:
      return goOnWaiting(context, container);
  }
}

export async function advanceContainer(context: ContainerContext): Promise<StepResult> {
  const container = readContainer(context.handles, context.place);
  if (container === undefined || !isUsable(container, context.handles, Date.now()))
    return await create(context, container?.restarts ?? 0);
  if (container.stage === "announced") return await push(context, container);
  return await look(context, container);
}
