import { expect, test } from "vitest";
import { runSteps, stepLine } from "./run-steps.ts";

test("all steps of a check run even if one fails, and only the output of a failed step is printed", async () => {
  const printed: string[] = [];
  const counts = await runSteps(
    [
      { name: "first", run: async () => ({ ok: true, output: "quiet" }) },
      { name: "second", run: async () => ({ ok: false, output: "one\ntwo\n" }) },
      { name: "third", run: async () => ({ ok: true, output: "" }) },
    ],
    1,
    (text) => printed.push(text.replace(/\d+\.\d s$/, "0.0 s")),
  );
  expect(counts).toEqual({ passed: 2, failed: 1 });
  expect(printed).toEqual([
    "ok    first  0.0 s",
    "FAIL  second  0.0 s",
    "      one\n      two",
    "ok    third  0.0 s",
  ]);
});

test("the note of a successful check step is printed, but not its output", async () => {
  const printed: string[] = [];
  const run = async () => ({ ok: true, output: "quiet", note: "not checked" });
  await runSteps([{ name: "one", run }], 1, (text) => printed.push(text));
  expect(printed).toEqual([expect.stringMatching(/^ok {4}one/), "      not checked"]);
});

test("no more steps of a check than the given limit run at the same time", async () => {
  let running = 0;
  let most = 0;
  const run = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return { ok: true, output: "" };
  };
  const steps = Array.from({ length: 6 }, (_, index) => ({ name: String(index), run }));
  expect(await runSteps(steps, 2, () => undefined)).toEqual({ passed: 6, failed: 0 });
  expect(most).toBe(2);
});

test("the line of a finished check step shows its duration in seconds", () => {
  expect(stepLine("lint", false, 1234)).toBe("FAIL  lint  1.2 s");
});
