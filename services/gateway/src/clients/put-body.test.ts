import { constants, PerformanceObserver, type PerformanceEntry } from "node:perf_hooks";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { notePassingBytes } from "./put-body.ts";

const MEGABYTE = 1024 * 1024;

test("notePassingBytes runs a minor garbage collection for every 16 MB that pass through the process", async () => {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } };
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) collections += 1;
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  for (let passed = 0; passed < 1600; passed += 1) notePassingBytes(MEGABYTE);
  // Node does not report a collection that happens during another one.
  await eventually(() => collections >= 90);
  expect(collections).toBeLessThan(150);
  observer.disconnect();
});
