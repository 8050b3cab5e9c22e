import { createHash } from "node:crypto";
import type { SendGuard } from "@postrider/platforms/http/send-once";

/** What makes two publications of one account the same to a reader. */
export interface HashedContent {
  readonly text: string;
  readonly title: string | undefined;
  /** In the post's order. */
  readonly mediaIds: readonly string[];
}

function normalize(text: string): string {
  return text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
}

/**
 * SHA-256 in hex over the normalized text, the title and the media. Two publications with one hash cannot be told apart
 * when the platform is read back, so an account never has two such calls open at a time.
 */
export function hashContent(content: HashedContent): string {
  const parts = [normalize(content.text), normalize(content.title ?? ""), ...content.mediaIds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** The two clocks of a process, in milliseconds. A suspended machine stops the first one, an operator can set the second. */
export interface Clocks {
  monotonic(): number;
  wall(): number;
}

/** Longest time between the request for the mark and the first byte of the call. */
const MAX_AGE_MS = 5_000;
/** The same limit as a part of the call's deadline. */
const MAX_AGE_PART = 1 / 12;

/**
 * Reads both clocks now, which must be before the mark is requested, and returns the guard of the visible call. The mark's
 * `call_until` counts from a later moment, so a call that respects `timeoutMs` ends before it.
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
