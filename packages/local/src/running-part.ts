/** A process of the stack while it runs. Disposing of it ends it. */
export interface RunningPart extends AsyncDisposable {
  readonly pid: number;
  /** Resolves, with how, when the process has ended for any reason. */
  readonly exited: Promise<string>;
}

/** How a part of the stack is started, again and again on the same port. */
export interface PartPlan {
  /** `posts`, or `posts-2` for the second replica. */
  readonly name: string;
  /** Name of the file that holds it down; replicas share it. */
  readonly holdName: string;
  readonly start: () => Promise<RunningPart>;
}
