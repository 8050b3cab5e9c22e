import type { GraphMeaning } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import { readGraphError } from "#src/graph/graph-error.ts";
import { isUploadAddress, pushBytes } from "#src/graph/rupload.ts";
import { shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type {
  Failure,
  Handles,
  Publication,
  PublicationMedia,
  StepResult,
  StepWait,
  TargetErrorCode,
} from "#src/publishing/connector.ts";
import { createContainer, describeCarousel, describeFile, readState } from "./container-calls.ts";
import {
  isUsable,
  listChildren,
  listPlaces,
  readContainer,
  toHandle,
  type Container,
  type ContainerPlace,
} from "./containers.ts";
import { meaningOfStatus, toInstagramFailure } from "./meanings.ts";

/** How long Instagram may work on a container before a try gives up; the next one asks again. */
const PATIENCE_MS = 30 * 60_000;
const MAX_CHECK_MS = 60_000;
/** Before a container is made once more in place of one that Instagram could not use. */
const RESTARTS_AFTER_MS = [5000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000];

/** Where in the post a container stands, and what it is made with. */
export interface Site {
  readonly api: GraphApi;
  readonly publication: Publication;
  readonly place: ContainerPlace;
  readonly handles: Handles;
  readonly signal: AbortSignal;
}

/** What Instagram says of a container that it does not find. */
const NOT_FOUND = 24;
const NO_FILE = "there is no such file in the post";

/** Stored, and the step goes on. */
function next({ place }: Site, container: Container, afterMs = 0): StepWait {
  return { kind: "wait", afterMs, handles: toHandle(place, container) };
}

/** Begins once more with a container of which nothing can become; in the end the reason is final. */
function restart(
  site: Site,
  container: Container,
  code: TargetErrorCode,
  message: string,
): StepWait | Failure {
  const afterMs = RESTARTS_AFTER_MS[container.restarts];
  if (afterMs === undefined) return { kind: "refused", code, message };
  const restarts = container.restarts + 1;
  return next(site, { ...container, stage: "lost", restarts }, afterMs);
}

function fileAt({ media }: Publication, place: ContainerPlace): PublicationMedia | undefined {
  return place === "carousel" ? undefined : media[place];
}

function describe({ publication, place, handles }: Site): Readonly<Record<string, string>> {
  if (place === "carousel")
    return describeCarousel(publication, listChildren(handles, publication.media.length));
  const media = fileAt(publication, place);
  if (media === undefined) throw new Error(NO_FILE);
  return describeFile(publication, media);
}

/** A part that Instagram does not know any more; which one it does not say, so all parts are made again. */
function isLostPart({ place }: Site, answer: PlatformAnswer): boolean {
  return place === "carousel" && readGraphError(answer)?.code === NOT_FOUND;
}

function dropParts(site: Site, answer: PlatformAnswer): StepWait | Failure {
  let dropped: Handles = {};
  for (const place of listPlaces(site.publication.media.length)) {
    const part = readContainer(site.handles, place);
    if (part === undefined) continue;
    const { message } = toInstagramFailure(answer);
    const again = restart({ ...site, place }, part, "platform_unavailable", message);
    if (again.kind !== "wait") return again;
    dropped = { ...dropped, ...again.handles };
  }
  return { kind: "wait", afterMs: RESTARTS_AFTER_MS[0] ?? 0, handles: dropped };
}

async function create(site: Site, restarts: number): Promise<StepResult> {
  const answer = await createContainer(site.api, site.publication, describe(site), site.signal);
  if (answer.kind === "no_answer") return toInstagramFailure(answer);
  const id = text(answer.json, "id");
  if (answer.status === 200 && id !== undefined)
    return next(site, toContainer(site, { id, restarts, uri: text(answer.json, "uri") ?? "" }));
  return isLostPart(site, answer) ? dropParts(site, answer) : toInstagramFailure(answer);
}

function toContainer(
  { publication, place, handles }: Site,
  { id, restarts, uri }: Pick<Container, "id" | "restarts"> & { readonly uri: string },
): Container {
  const isPushed = fileAt(publication, place)?.kind === "video";
  const now = Date.now();
  return {
    id,
    stage: isPushed ? "announced" : "processing",
    uploadUrl: isPushed ? uri : "",
    madeAt: now,
    checks: 0,
    patientUntil: now + PATIENCE_MS,
    restarts,
    children: place === "carousel" ? listChildren(handles, publication.media.length) : [],
  };
}

/** Pushes the film. One that broke off leaves what nobody documents how to go on with, so another container is made. */
async function push(site: Site, container: Container): Promise<StepResult> {
  const { api, publication, place, signal } = site;
  const media = fileAt(publication, place);
  if (media === undefined) throw new Error(NO_FILE);
  const { uploadUrl: url } = container;
  if (!isUploadAddress(api, url))
    return { kind: "refused", code: "app_configuration", message: "an unknown upload address" };
  const result = await pushBytes({ url, account: publication, media, offset: 0 }, signal);
  switch (result.kind) {
    case "uploaded":
      return next(site, {
        ...container,
        stage: "processing",
        patientUntil: Date.now() + PATIENCE_MS,
      });
    case "interrupted":
      return restart(site, container, "platform_unavailable", result.message);
    case "rejected":
      return restart(site, container, "media_rejected", result.message);
    case "token_refused":
      return result;
  }
}

/** Of these, another container may become something. */
const OF_THE_CONTAINER: ReadonlySet<GraphMeaning> = new Set<GraphMeaning>([
  "token",
  "limit",
  "missing",
  "transient",
]);

/** Instagram could not make anything of it. */
function onError(site: Site, container: Container, status: string): StepWait | Failure {
  const meaning = meaningOfStatus(status);
  const message = shorten(status) || "Instagram could not process the media";
  if (OF_THE_CONTAINER.has(meaning)) return restart(site, container, "media_rejected", message);
  if (meaning === "media_fetch_failed") return restart(site, container, meaning, message);
  return { kind: "refused", code: meaning as TargetErrorCode, message };
}

/** Not ready, or nobody knows: a read that failed says nothing about the container. */
function goOnWaiting(site: Site, container: Container): StepWait | Failure {
  if (Date.now() > container.patientUntil)
    return {
      kind: "retryable",
      code: "platform_unavailable",
      message: "the media is still being processed",
    };
  const checks = container.checks + 1;
  return next(site, { ...container, checks }, Math.min(1000 * 2 ** (checks - 1), MAX_CHECK_MS));
}

async function look(site: Site, container: Container): Promise<StepResult> {
  const { api, publication, signal } = site;
  const state = await readState(api, publication, container.id, signal);
  if (state.kind === "no_answer") return goOnWaiting(site, container);
  if (state.kind === "answer") {
    const failure = toInstagramFailure(state);
    const isPassing = failure.kind === "retryable" && failure.isLimit !== true;
    return isPassing ? goOnWaiting(site, container) : failure;
  }
  switch (state.code) {
    case "FINISHED":
    // It can only be published if it is ours to be published again, which is asked before the visible call is repeated.
    case "PUBLISHED":
      return toHandle(site.place, { ...container, stage: "ready" });
    case "ERROR":
      return onError(site, container, state.status);
    case "EXPIRED":
      return restart(site, container, "platform_unavailable", "the container expired");
    default:
      return goOnWaiting(site, container);
  }
}

/** Brings one container a call further. */
export async function advance(site: Site): Promise<StepResult> {
  const container = readContainer(site.handles, site.place);
  if (container === undefined || !isUsable(container, site.handles, Date.now()))
    return await create(site, container?.restarts ?? 0);
  if (container.stage === "announced") return await push(site, container);
  return await look(site, container);
}
