import { useWindowHeight } from "../../kit/use-media.ts";

/** All hours of a day fill a window of 900 pixels. */
const MIN_HOUR_PX = 29;
/** What stands above the first hour and below the last one. */
const AROUND_PX = 204;
const HOURS = 24;

/** How far a minute of the day lies from above. */
export function offsetOf(minutes: number): string {
  return `calc(var(--hour) * ${minutes / 60})`;
}

/** The hours grow with the window, so that posts that follow each other closely lie apart. */
export function useHourPx(): number {
  return Math.max(MIN_HOUR_PX, Math.floor((useWindowHeight() - AROUND_PX) / HOURS));
}
