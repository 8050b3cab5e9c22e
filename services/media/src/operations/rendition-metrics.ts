import { createCounter, createDurationHistogram } from "@postrider/shared/telemetry/metrics";

/** Counts the renditions that this process made or refused. */
export const renditionsTotal = createCounter(
  "media_renditions_total",
  "Renditions of images for platforms, by result.",
  ["result"],
  [{ result: "made" }, { result: "refused" }],
);

const renderSeconds = createDurationHistogram(
  "media_render_seconds",
  "Duration of making the renditions of one image, with the wait for a process.",
  [],
);

/** Measures how long renditions take. */
export async function measureRender<T>(work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await work();
  } finally {
    renderSeconds.observe({}, (performance.now() - startedMs) / 1000);
  }
}
