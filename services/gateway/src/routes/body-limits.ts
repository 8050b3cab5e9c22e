import type { MinimumRate } from "@postrider/shared/limits/minimum-rate";

/** Limits on the memory that request bodies may use in the gateway while they arrive and while their requests are carried out. */
export interface BodyLimits {
  /** Maximum number of bytes of the bodies of all workspaces. */
  readonly totalBytes: number;
  /** Maximum number of bytes of the bodies of all requests without a workspace. */
  readonly bytesWithoutWorkspace: number;
  /** Maximum number of bytes of the bodies of one workspace or, for requests without a workspace, of one remote network. */
  readonly bytesPerCaller: number;
  /** How long a request waits until the bytes of its body are reserved; then it is refused. */
  readonly maxWaitMs: number;
  /** Minimum rate at which a body arrives; the connection of a slower client is answered with 408 and closed. */
  readonly rate: MinimumRate;
}
