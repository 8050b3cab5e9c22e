import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createBlueskyConnector } from "./authorization.ts";

test("a session that its owner places inside our network is neither renewed nor ended there", async () => {
  let requests = 0;
  const inside = createServer((_request, response) => {
    requests += 1;
    response.end('{"accessJwt":"a","refreshJwt":"b"}');
  });
  await new Promise<void>((resolve) => {
    inside.listen(0, "127.0.0.1", resolve);
  });
  const pdsUrl = `http://127.0.0.1:${(inside.address() as AddressInfo).port}`;
  const login = { accessToken: "access token", refreshToken: "refresh token" };
  const foreign = { ...login, attributes: { pdsUrl } };
  const signal = AbortSignal.timeout(10_000);
  const { refresh, revoke } = createBlueskyConnector("http://unused.example.com");
  expect(await refresh?.(foreign, signal)).toMatchObject({ kind: "unavailable" });
  expect(await revoke?.(foreign, signal)).toMatchObject({ kind: "unavailable" });
  expect(requests).toBe(0);

  // The same place as the operator's own setting.
  const ours = createBlueskyConnector(pdsUrl);
  expect(await ours.refresh?.({ ...login, attributes: {} }, signal)).toMatchObject({
    kind: "renewed",
  });
  inside.close();
});
