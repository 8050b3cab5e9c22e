/** Limits on the bytes of large answers that the gateway holds. */
export interface UnsentLimits {
  /** Maximum number of bytes of large answers to all workspaces that are being produced or are not sent yet. */
  readonly totalBytes: number;
  /** Maximum number of unsent bytes of large answers to requests without a workspace. They have a limit of their own. */
  readonly bytesWithoutWorkspace: number;
  /** Maximum number of unsent bytes of large answers to one workspace or, without a workspace, one remote network. */
  readonly bytesPerCaller: number;
  /**
   * How long a request waits until bytes are reserved for its large answer. After that time, the request is refused.
   */
  readonly maxWaitMs: number;
}

/** What is known of the answer to a request before the handler runs. */
export interface ExpectedAnswer {
  /** Maximum size in bytes, if the answer can be large; otherwise 0. */
  readonly bytes: number;
  /** Whether the request changes nothing, so that its answer can be refused. */
  readonly isRead: boolean;
}
