import type { PostSummary } from "@postrider/client";
import { toZoned } from "../../time/place-in-zone.ts";
import { timeOf } from "./merge-pages.ts";

/** A post, or the place of the present between two posts. */
export type Line = PostSummary | "now";

export interface Day {
  /** The date in the zone. */
  readonly day: string;
  /** The time of its first post. */
  readonly first: string;
  readonly lines: readonly Line[];
}

/**
 * Puts posts, which stand latest first, under the days of a zone. Only the first post of each day
 * is converted into the zone, which takes 80 µs where `Temporal` is a polyfill.
 */
export function groupByDay(
  posts: readonly PostSummary[],
  zone: string,
  now: Temporal.Instant,
): readonly Day[] {
  const days: { day: string; first: string; startMs: number; posts: PostSummary[] }[] = [];
  for (const post of posts) {
    const time = timeOf(post);
    const last = days.at(-1);
    if (last !== undefined && Date.parse(time) >= last.startMs) {
      last.posts.push(post);
      continue;
    }
    const zoned = toZoned(time, zone);
    const startMs = zoned.startOfDay().epochMilliseconds;
    days.push({ day: zoned.toPlainDate().toString(), first: time, startMs, posts: [post] });
  }
  const today = now.toZonedDateTimeISO(zone).toPlainDate().toString();
  return days.map(({ day, first, posts: ofDay }) => ({
    day,
    first,
    lines: day === today ? withNow(ofDay, now) : ofDay,
  }));
}

function withNow(posts: readonly PostSummary[], now: Temporal.Instant): readonly Line[] {
  const past = posts.findIndex((post) => Date.parse(timeOf(post)) <= now.epochMilliseconds);
  const place = past === -1 ? posts.length : past;
  return [...posts.slice(0, place), "now", ...posts.slice(place)];
}
