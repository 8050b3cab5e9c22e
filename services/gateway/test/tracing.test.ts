import { createLogger } from "@postrider/shared/telemetry/logger";
import { findContext } from "@postrider/shared/telemetry/request-context";
import { eventually } from "@postrider/shared/testing/poll";
import { startTracing } from "@postrider/shared/tracing/start";
import { isTracing } from "@postrider/shared/tracing/tracing";
import { afterAll, expect, test } from "vitest";
import { createTestServer } from "./fixture.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN = "00f067aa0ba902b7";

let passedOn: string | undefined;

const listAccounts = () => {
  passedOn = findContext()?.traceparent;
  return { accounts: [] };
};
const app = await createTestServer({ accounts: { listAccounts } });
afterAll(() => app.close());

async function ask(flags: string): Promise<string | undefined> {
  const headers = { traceparent: `00-${TRACE}-${CLIENT_SPAN}-${flags}` };
  const { statusCode } = await app.inject({ url: "/api/v1/accounts", headers });
  expect(statusCode).toBe(200);
  return passedOn;
}

test.each([
  [0, "01", "00"],
  [1, "00", "01"],
])(
  "with the sampling ratio %d, the gateway replaces the client's traceparent flag %s by %s and keeps the trace id",
  async (ratio, sent, kept) => {
    const logger = createLogger({ service: "test", level: "silent" });
    // Nothing listens on this OTLP endpoint, because the test does not read the spans.
    const config = { endpoint: "http://127.0.0.1:1", headers: {}, ratio };
    await using _tracing = startTracing(config, { service: "gateway", logger });
    await eventually(() => isTracing());
    expect(await ask(sent)).toMatch(
      new RegExp(`^00-${TRACE}-(?!${CLIENT_SPAN})[0-9a-f]{16}-${kept}$`),
    );
  },
);

test("a gateway that does not record traces marks the trace as not sampled in its calls to other services", async () => {
  expect(await ask("01")).toBe(`00-${TRACE}-${CLIENT_SPAN}-00`);
});
