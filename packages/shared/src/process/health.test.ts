import { expect, test } from "vitest";
import { createHealth, createOpsServer } from "./health.ts";

test("the readiness metric is measured each time metrics are read", async () => {
  const health = createHealth();
  let isThere = false;
  health.checks.set("database", async () => {
    await Promise.resolve();
    if (!isThere) throw new Error("not there");
  });
  await using app = createOpsServer(health);
  const readGauge = async () => {
    const { body } = await app.inject("/metrics");
    return body.split("\n").filter((line) => line.startsWith("postrider_ready"));
  };

  expect(await readGauge()).toEqual(["postrider_ready 0"]);

  isThere = true;
  expect(await readGauge()).toEqual(["postrider_ready 1"]);

  health.drain();
  expect(await readGauge()).toEqual(["postrider_ready 0"]);
});

test("/readyz shows the notes of a process that is ready, such as why it is held, and leaves out notes without a text", async () => {
  const health = createHealth();
  const found: { note?: string } = {};
  health.notes.set("deployment", () => found.note);
  await using app = createOpsServer(health);
  const read = async () => {
    const { statusCode, body } = await app.inject("/readyz");
    return [statusCode, JSON.parse(body) as unknown];
  };

  expect(await read()).toEqual([200, { status: "ok", checks: {} }]);
  found.note = "held: the data belongs to another deployment";
  expect(await read()).toEqual([
    200,
    { status: "ok", checks: {}, notes: { deployment: found.note } },
  ]);
});
