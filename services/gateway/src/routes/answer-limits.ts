/** Limits on the bytes of large answers that the gateway holds. */
export interface UnsentLimits {
  /** Maximum number of bytes of large answers to all workspaces that are being produced or are not sent yet. */
  readonly totalBytes: number;
  /** Maximum number of unsent bytes of large answers to requests without a workspace. They have a limit of their own. */
  readonly bytesWithoutWorkspace: number;
  /**
   * Maximum number of unsent bytes of large answers to one workspace or, for requests without a workspace, to one
   * remote network. A further answer waits or is refused.
   */
  readonly bytesPerCaller: number;
  /**
   * How long a request waits until bytes are reserved for its large answer. After that time, the request is refused.
   */
  readonly maxWaitMs: number;
}

/** What is known of the answer to a request before the handler runs. */
export interface ExpectedAnswer {
  /** Maximum size in bytes of an answer that can be large; 0 for an answer that is always small. */
  readonly bytes: number;
  /** Whether the request changes nothing. Only the answer to such a request may be replaced by a refusal. */
  readonly isRead: boolean;
}
