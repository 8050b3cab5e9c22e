import { createStore } from "../settings/create-store.ts";

/** Another time for a post, as it was when it was read. */
export interface Move {
  readonly id: string;
  /** Null for a draft, which the move schedules: no move makes it a draft again. */
  readonly from: string | null;
  readonly to: string;
  /** `ETag` of the version that the reader saw; a version that is newer refuses the move (412). */
  readonly etag: string | undefined;
}

export interface RefusedMove {
  readonly move: Move;
  readonly error: unknown;
}

/** A move without a dialog of its own that was refused; the frame shows it. */
export const refusedMove = createStore<RefusedMove | undefined>(undefined);
