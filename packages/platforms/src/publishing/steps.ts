import type { Handles } from "./handles.ts";
import type { Failure } from "./outcome.ts";
import type { Publication } from "./publication.ts";

/**
 * The platform is still processing: the step runs again after `afterMs`, with these handles added. A wait does not
 * count as an attempt. The connector limits the total waiting time by means of times that it stores in its handles.
 */
export interface StepWait {
  readonly kind: "wait";
  readonly afterMs: number;
  readonly handles?: Handles;
}

/** The result of a step: handles to store, a failure or a wait. */
export type StepResult = Handles | Failure | StepWait;

/**
 * A preparation step, which makes nothing visible. It can be repeated safely; its result is stored before the next
 * call.
 */
export interface PrepareStep {
  readonly name: string;
  /** Whether the handles of the step are already stored, so that the step does not run again. */
  isDone(handles: Handles): boolean;
  run(publication: Publication, handles: Handles, signal: AbortSignal): Promise<StepResult>;
}

const FAILURE_KINDS: ReadonlySet<string> = new Set<Failure["kind"]>([
  "refused",
  "retryable",
  "token_refused",
]);

/** Whether a step failed. */
export function isFailure(result: StepResult): result is Failure {
  return FAILURE_KINDS.has(result.kind ?? "");
}

/** Whether a step waits for the platform. */
export function isWait(result: StepResult): result is StepWait {
  return result.kind === "wait";
}

/** Stores the handles and runs the step again, immediately unless `afterMs` says otherwise. */
export function runAgain(handles: Handles, afterMs = 0): StepWait {
  return { kind: "wait", afterMs, handles };
}
