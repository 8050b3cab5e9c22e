import { number } from "#src/http/platform-answer.ts";
import type { PostMetrics } from "./connector.ts";

export function toMetrics(counters: Partial<PostMetrics>): PostMetrics {
  return {
    views: null,
    impressions: null,
    reach: null,
    likes: null,
    comments: null,
    shares: null,
    saves: null,
    ...counters,
  };
}

export function sumOf(counters: unknown, ...names: readonly string[]): number | null {
  const found = names
    .map((name) => number(counters, name))
    .filter((counter) => counter !== undefined);
  return found.length === 0 ? null : found.reduce((sum, counter) => sum + counter, 0);
}
