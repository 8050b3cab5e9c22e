import { expect, test } from "vitest";
import { createLogger } from "#src/telemetry/logger.ts";
import { createGauge } from "#src/telemetry/metrics.ts";
import { DeploymentGuard, describeHold } from "./guard.ts";
import type { Ownership } from "./ownership.ts";

test("when the data belongs to another deployment, the deployment guard tells its caller, sets its gauge and logs one line per change", async () => {
  const lines: { level: string; msg: string; reason?: string }[] = [];
  const answers: Ownership[] = [
    { kind: "own" },
    { kind: "foreign", reason: "database" },
    { kind: "foreign", reason: "database" },
    { kind: "restored" },
    { kind: "own" },
  ];
  const heldGauge = createGauge("test_held", "1 while the data is foreign.");
  const guard = new DeploymentGuard({
    activity: "publishing",
    heldGauge,
    readOwnership: () => Promise.resolve(answers.shift() ?? { kind: "own" }),
    logger: createLogger({
      service: "test",
      level: "info",
      destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
    }),
  });

  const seen: { isOwn: boolean; held: number | undefined }[] = [];
  for (let asked = 0; asked < 5; asked += 1) {
    const isOwn = await guard.isOwn();
    seen.push({ isOwn, held: (await heldGauge.get()).values[0]?.value });
  }

  expect(seen).toEqual([
    { isOwn: true, held: 0 },
    { isOwn: false, held: 1 },
    { isOwn: false, held: 1 },
    { isOwn: false, held: 0 },
    { isOwn: true, held: 0 },
  ]);
  expect(lines.map(({ msg, reason }) => ({ msg, reason }))).toEqual([
    {
      msg: "publishing is stopped, because the data in this database belongs to another deployment or is a copy from another database; to use the data in this deployment, run `postrider recovery adopt`",
      reason: "database",
    },
    {
      msg: "publishing resumes, because the data in the database belongs to this deployment",
      reason: undefined,
    },
  ]);
});

test("a deployment guard reads the database at most once a second, and does not hold data that was restored in its own deployment", async () => {
  let reads = 0;
  let ownership: Ownership = { kind: "foreign", reason: "system_identifier" };
  const createGuard = () =>
    new DeploymentGuard({
      activity: "publishing",
      heldGauge: createGauge(`test_held_${reads}`, "1 while the data is foreign."),
      readOwnership: () => {
        reads += 1;
        return Promise.resolve(ownership);
      },
      logger: createLogger({ service: "test", level: "silent" }),
    });

  const held = createGuard();
  expect([await held.isHeld(), await held.isHeld(), await held.isHeld()]).toEqual([
    true,
    true,
    true,
  ]);
  expect(reads).toBe(1);
  expect(describeHold(held)).toBe("held: the data belongs to another system identifier");

  ownership = { kind: "restored" };
  const restored = createGuard();
  expect([await restored.isHeld(), describeHold(restored)]).toEqual([false, undefined]);
});
