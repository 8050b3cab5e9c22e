/** A running process of the local stack. Disposing of it ends the process. */
export interface RunningPart extends AsyncDisposable {
  readonly pid: number;
  /** Resolves with the reason when the process has ended. */
  readonly exited: Promise<string>;
}

/** How a process of the local stack is started. Every start uses the same port. */
export interface PartPlan {
  /** Name of the process: `posts`, or `posts-2` for the second replica of the posts service. */
  readonly name: string;
  /** Name of the hold file that keeps the process down; the replicas of a service share one. */
  readonly holdName: string;
  readonly start: () => Promise<RunningPart>;
}
