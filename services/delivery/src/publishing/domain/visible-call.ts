import { createHash } from "node:crypto";
import type { SendGuard } from "@postrider/platforms/http/send-once";

/** The parts of a post by which a reader tells two posts of one account apart. */
export interface HashedContent {
  readonly text: string;
  readonly title: string | undefined;
  /** Media ids in the order of the post. */
  readonly mediaIds: readonly string[];
}

function normalize(text: string): string {
  return text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
}

/**
 * SHA-256 in hex over the normalized text, the title and the media. Two posts with the same hash cannot be told apart in a
 * search of the platform, so an account never has two open calls with the same hash.
 */
export function hashContent(content: HashedContent): string {
  const parts = [normalize(content.text), normalize(content.title ?? ""), ...content.mediaIds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/**
 * The two clocks of a process, in milliseconds. The monotonic clock stops while the machine is suspended; an operator can
 * set the wall clock.
 */
export interface Clocks {
  monotonic(): number;
  wall(): number;
}

/** Maximum time between the request for the mark and the first byte of the publishing call. */
const MAX_AGE_MS = 5_000;
/** The same limit as a fraction of the call's deadline; the smaller limit applies. */
const MAX_AGE_PART = 1 / 12;

/**
 * Reads both clocks and returns the guard of the publishing call. It must be called before the mark is requested:
 * `call_until` of the mark counts from a later moment, so a call that respects `timeoutMs` ends before it.
 */
export function createSendGuard(clocks: Clocks, visibleCallMs: number): SendGuard {
  const monotonic = clocks.monotonic();
  const wall = clocks.wall();
  const maxAgeMs = Math.min(MAX_AGE_MS, visibleCallMs * MAX_AGE_PART);
  return {
    mayStillSend: () =>
      clocks.monotonic() - monotonic < maxAgeMs && Math.abs(clocks.wall() - wall) < maxAgeMs,
    get timeoutMs() {
      return Math.max(1, Math.floor(visibleCallMs - (clocks.monotonic() - monotonic)));
    },
  };
}
