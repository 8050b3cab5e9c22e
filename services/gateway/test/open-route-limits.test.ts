import { afterAll, expect, test } from "vitest";
import { createTestServer } from "./fixture.ts";

/**
 * Number of requests of one kind per minute that one remote address may make without an API key.
 */
const REQUESTS = 300;

const app = await createTestServer({
  authorizations: {
    findConnectLink: () => ({ outcome: "unknown" }),
    finishAuthorization: () => ({ outcome: "unknown_state" }),
  },
});
afterAll(() => app.close());

const PATHS = {
  "an unknown path": "/wp-login.php",
  "the documentation": "/docs",
  "the page to which a platform sends a browser back": "/connect/callback?state=s&code=c",
};

async function statusOf(remoteAddress: string, url: string): Promise<number> {
  return (await app.inject({ method: "GET", url, remoteAddress })).statusCode;
}

test.each(Object.entries(PATHS))(
  "an address that has used up its requests for %s can still make the other requests without an API key",
  async (name, used) => {
    const address = `192.0.2.${Object.keys(PATHS).indexOf(name) + 1}`;
    // On a slow machine the address gets new requests while it uses up the old ones.
    let accepted = 0;
    while ((await statusOf(address, used)) !== 429) accepted += 1;
    expect(accepted).toBeGreaterThanOrEqual(REQUESTS);
    for (const other of Object.values(PATHS).filter((path) => path !== used))
      expect(await statusOf(address, other), other).not.toBe(429);
  },
);
