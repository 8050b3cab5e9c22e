import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestSimulator } from "#src/testing.ts";

let simulator: TestSimulator;

beforeEach(async () => {
  simulator = await TestSimulator.start();
});

afterEach(() => simulator[Symbol.asyncDispose]());

/** Sends the headers of a request with a `Content-Length` of `bytes`, but no byte of the body. */
async function announce(path: string, bytes: number): Promise<string> {
  const call = request(`${simulator.url}${path}`, {
    method: "POST",
    headers: { "content-type": "video/mp4", "content-length": String(bytes) },
  });
  call.flushHeaders();
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of answer.setEncoding("utf8")) body += String(chunk);

  call.destroy();
  return `${answer.statusCode ?? 0} ${body}`;
}

test("the simulator refuses a request body that is too large before reading it, in the error format of the platform", async () => {
  const telegram = `/telegram/bot123456789:${"a".repeat(35)}/sendVideo`;
  expect(await announce(telegram, 600_000_000)).toBe(
    '413 {"ok":false,"error_code":413,"description":"Request Entity Too Large"}',
  );
  expect(await announce("/bluesky/xrpc/app.bsky.video.uploadVideo", 300_000_001)).toBe(
    '413 {"error":"PayloadTooLarge","message":"request entity too large"}',
  );
});
