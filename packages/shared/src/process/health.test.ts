import { expect, test } from "vitest";
import { createFirstAnswerCheck, createHealth, createOpsServer, readHealth } from "./health.ts";

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

test("a process is ready once another service has answered it, and stays ready when that service fails", async () => {
  const health = createHealth();
  let isThere = false;
  const ask = () => (isThere ? Promise.resolve() : Promise.reject(new Error("10.0.0.7 refused")));
  health.checks.set("accounts", createFirstAnswerCheck(ask));
  const waiting = { ready: false, checks: { accounts: "has not answered yet" } };
  expect(await readHealth(health)).toEqual(waiting);

  isThere = true;
  expect(await readHealth(health)).toEqual({ ready: true, checks: { accounts: "ok" } });
  isThere = false;
  expect(await readHealth(health)).toEqual({ ready: true, checks: { accounts: "ok" } });
});
