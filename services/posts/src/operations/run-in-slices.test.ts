import { runInContext } from "@postrider/shared/telemetry/request-context";
import { expect, test } from "vitest";
import { runInSlices } from "./run-in-slices.ts";

const SLICE_MS = 2;

/** Work of a number of slices, which notes each of them. */
function* work(name: string, slices: number, log: string[]): Generator<void, void> {
  for (let slice = 0; slice < slices; slice += 1) {
    log.push(name);
    const endsAt = performance.now() + SLICE_MS;
    while (performance.now() < endsAt);
    yield;
  }
}

function run(workspaceId: string, steps: Iterator<void, void>, deadlineAt = Infinity) {
  const context = { requestId: workspaceId, workspaceId, deadlineAt };
  return runInContext(context, () => runInSlices(steps));
}

test("the workspaces take turns with long work, however many requests one of them has", async () => {
  const log: string[] = [];
  const many = Array.from({ length: 20 }, () => run("many", work("many", 5, log)));
  await run("one", work("one", 5, log));
  expect(log.filter((name) => name === "many").length).toBeLessThan(10);
  await Promise.all(many);
  expect(log).toHaveLength(105);
});

test("long work ends when the time of its request is over", async () => {
  const log: string[] = [];
  const endless = run("one", work("one", Infinity, log), performance.now() + 20);
  await expect(endless).rejects.toMatchObject({ reason: "unavailable" });
});
