import { toStepFailure } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import { isUploadAddress, pushBytes } from "#src/graph/rupload.ts";
import { formBody } from "#src/http/request-body.ts";
import type { Handles, PrepareStep, StepResult, StepWait } from "#src/publishing/connector.ts";
import { callGraph, filmOf, idIn, pagePath, unavailable, type FacebookContext } from "./context.ts";
import { MEANINGS } from "./meanings.ts";
import { nextCheck, toRejected, type Patience } from "./patience.ts";
import { readVideo, type VideoStatus } from "./video-status.ts";

/** How far a reel is; stored as a handle after each answer of Facebook. */
interface Reel extends Patience {
  readonly id: string;
  /** Where its bytes go. */
  readonly url: string;
  /** `begun` = nothing was sent · `sending` = a part may be there · `lost` = it begins again. */
  readonly stage: "begun" | "sending" | "processing" | "ready" | "lost";
  readonly restarts: number;
}

const MAX_RESTARTS = 1;
/** Whether Facebook processes a reel before it is asked to publish it is not documented: not for ever is waited for that. */
const UNSTARTED_MS = 60_000;

function readState(handles: Handles): Reel | undefined {
  return handles.reel === undefined ? undefined : (JSON.parse(handles.reel) as Reel);
}

/** The id under which the reel was uploaded, once it can be published. */
export function reelId(handles: Handles): string | undefined {
  const reel = readState(handles);
  return reel?.stage === "ready" ? reel.id : undefined;
}

function toHandle(reel: Reel): Handles {
  return { reel: JSON.stringify(reel) };
}

/** Stored, and the step goes on at once. */
function next(reel: Reel): StepWait {
  return { kind: "wait", afterMs: 0, handles: toHandle(reel) };
}

async function begin(context: FacebookContext, restarts: number): Promise<StepResult> {
  const { api, publication, signal } = context;
  const body = formBody({ upload_phase: "start" });
  const call = { method: "POST", path: pagePath(publication, "video_reels"), body } as const;
  const answer = await callGraph(api, publication, call, signal);
  const id = idIn(answer, "video_id");
  const url = idIn(answer, "upload_url");
  if (id === undefined || url === undefined) return toStepFailure(answer, MEANINGS);
  if (!isUploadAddress(api, url)) return unavailable("the upload address is not Facebook's");
  return next({ id, url, stage: "begun", waitingSince: 0, restarts });
}

async function send(
  { publication, signal }: FacebookContext,
  reel: Reel,
  offset: number,
): Promise<StepResult> {
  const film = filmOf(publication);
  const upload = { url: reel.url, account: publication, media: film, offset };
  const result = await pushBytes(upload, signal);
  switch (result.kind) {
    case "uploaded":
      return next({ ...reel, stage: "processing", waitingSince: Date.now() });
    case "interrupted":
      return unavailable(result.message);
    case "token_refused":
      return result;
    case "rejected":
      return reel.restarts < MAX_RESTARTS
        ? next({ ...reel, stage: "lost", restarts: reel.restarts + 1 })
        : { kind: "refused", code: "media_rejected", message: result.message };
  }
}

/** Reads how much is there and sends the rest. */
async function resume(context: FacebookContext, reel: Reel): Promise<StepResult> {
  const { api, publication, signal } = context;
  const status = await readVideo(api, publication, reel.id, signal);
  if ("kind" in status) return status;
  return status.isUploaded || status.bytes >= filmOf(publication).bytes
    ? next({ ...reel, stage: "processing", waitingSince: Date.now() })
    : await send(context, reel, status.bytes);
}

function isProcessed({ processing }: VideoStatus, { waitingSince }: Reel): boolean {
  if (processing === "complete") return true;
  return processing === "not_started" && Date.now() - waitingSince > UNSTARTED_MS;
}

async function look(context: FacebookContext, reel: Reel): Promise<StepResult> {
  const { api, publication, signal } = context;
  const status = await readVideo(api, publication, reel.id, signal);
  if ("kind" in status) return status;
  if (status.processing === "error") return toRejected(status);
  return isProcessed(status, reel)
    ? toHandle({ ...reel, stage: "ready" })
    : nextCheck(reel, toHandle(reel));
}

async function run(context: FacebookContext, reel: Reel | undefined): Promise<StepResult> {
  switch (reel?.stage) {
    case undefined:
    case "lost":
      return await begin(context, reel?.restarts ?? 0);
    case "begun":
      // What is sent is noted first: who comes after a crash asks how much of it arrived.
      return next({ ...reel, stage: "sending" });
    case "sending":
      return await resume(context, reel);
    case "processing":
    case "ready":
      return await look(context, reel);
  }
}

/** Uploads the film and waits until it is processed; nobody sees it before it is finished. */
export function createReelStep(api: GraphApi): PrepareStep {
  return {
    name: "reel",
    isDone: (handles) => reelId(handles) !== undefined,
    run: (publication, handles, signal) => run({ api, publication, signal }, readState(handles)),
  };
}
