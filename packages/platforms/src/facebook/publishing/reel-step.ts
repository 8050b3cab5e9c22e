import { toStepFailure } from "#src/graph-api/failures.ts";
import { edgeOf, type GraphApi, openGraph } from "#src/graph-api/graph-request.ts";
import { isUploadUrl, pushBytes } from "#src/graph-api/push-bytes.ts";
import { formBody } from "#src/http/platform-request.ts";
import { ask } from "#src/publishing/caller.ts";
import { type Handles, jsonHandle } from "#src/publishing/handles.ts";
import { waitForProcessing } from "#src/publishing/look-schedule.ts";
import { platformUnavailable, refused } from "#src/publishing/outcome.ts";
import { fileAt } from "#src/publishing/publication.ts";
import {
  type PrepareStep,
  runAgain,
  type StepResult,
  type StepWait,
} from "#src/publishing/steps.ts";
import { type FacebookContext, idIn } from "./calls.ts";
import { MEANINGS } from "./error-meanings.ts";
import { readVideo, type VideoStatus } from "./video-status.ts";

interface Reel {
  readonly id: string;
  readonly waitingSince: number;
  readonly url: string;
  /**
   * State of the reel's upload: `begun` = no bytes were sent · `sending` = some bytes may have
   * arrived · `lost` = the upload must start again.
   */
  readonly stage: "begun" | "sending" | "processing" | "ready" | "lost";
  readonly restarts: number;
}

const MAX_RESTARTS = 1;
/** Facebook may process a reel only after the publishing call. */
const MAX_UNSTARTED_MS = 60_000;

const REEL = jsonHandle<Reel>("reel");

export function reelId(handles: Handles): string | undefined {
  const reel = REEL.read(handles);
  return reel?.stage === "ready" ? reel.id : undefined;
}

function next(reel: Reel): StepWait {
  return runAgain(REEL.write(reel));
}

async function start({ graph }: FacebookContext, restarts: number): Promise<StepResult> {
  const body = formBody({ upload_phase: "start" });
  const path = edgeOf(graph.account, "video_reels");
  const answer = await ask(graph, { method: "POST", path, body });
  const id = idIn(answer, "video_id");
  const url = idIn(answer, "upload_url");
  if (id === undefined || url === undefined) return toStepFailure(answer, MEANINGS);
  if (!isUploadUrl(graph, url))
    return platformUnavailable("the upload URL is not on Facebook's upload host");
  return next({ id, url, stage: "begun", waitingSince: 0, restarts });
}

async function send(
  { graph, publication }: FacebookContext,
  reel: Reel,
  offset: number,
): Promise<StepResult> {
  const result = await pushBytes(graph, reel.url, fileAt(publication, 0), offset);
  switch (result.kind) {
    case "uploaded":
      return next({ ...reel, stage: "processing", waitingSince: Date.now() });
    case "interrupted":
      return platformUnavailable(result.message);
    case "token_refused":
      return result;
    case "rejected":
      return reel.restarts < MAX_RESTARTS
        ? next({ ...reel, stage: "lost", restarts: reel.restarts + 1 })
        : refused("media_rejected", result.message);
  }
}

async function resume(context: FacebookContext, reel: Reel): Promise<StepResult> {
  const status = await readVideo(context.graph, reel.id);
  if ("kind" in status) return status;
  return status.isUploaded || status.bytes >= fileAt(context.publication, 0).bytes
    ? next({ ...reel, stage: "processing", waitingSince: Date.now() })
    : await send(context, reel, status.bytes);
}

function isProcessed({ processing }: VideoStatus, { waitingSince }: Reel): boolean {
  if (processing === "complete") return true;
  return processing === "not_started" && Date.now() - waitingSince > MAX_UNSTARTED_MS;
}

async function look({ graph }: FacebookContext, reel: Reel): Promise<StepResult> {
  const status = await readVideo(graph, reel.id);
  if ("kind" in status) return status;
  if (status.processing === "error") return refused("media_rejected", status.problem);
  return isProcessed(status, reel)
    ? REEL.write({ ...reel, stage: "ready" })
    : waitForProcessing(reel.waitingSince, REEL.write(reel));
}

async function run(context: FacebookContext, reel: Reel | undefined): Promise<StepResult> {
  switch (reel?.stage) {
    case undefined:
    case "lost":
      return await start(context, reel?.restarts ?? 0);
    case "begun":
      // Stored before the first byte is sent, so that after a crash the next worker first asks how
      // many bytes have arrived.
      return next({ ...reel, stage: "sending" });
    case "sending":
      return await resume(context, reel);
    case "processing":
    case "ready":
      return await look(context, reel);
  }
}

/** Only the publishing call makes the reel visible. */
export function createReelStep(api: GraphApi): PrepareStep {
  return {
    name: "reel",
    isDone: (handles) => reelId(handles) !== undefined,
    run: (publication, handles, signal) =>
      run({ graph: openGraph(api, publication, signal), publication }, REEL.read(handles)),
  };
}
