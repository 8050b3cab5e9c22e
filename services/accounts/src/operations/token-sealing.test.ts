import { createSecretKey, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { sealTokens } from "./token-sealing.ts";

const deps = { credentialKeys: [{ id: "k1", secret: createSecretKey(randomBytes(32)) }] };
const owner = {
  workspaceId: "w",
  accountId: "a",
  platform: "bluesky",
  externalId: "did:plc:a",
  attributes: {},
};
const HOUR_MS = 3_600_000;

test.each([
  [90 * 24 * HOUR_MS, 45 * 24 * HOUR_MS],
  [1_000, HOUR_MS],
])(
  "an unused refresh token that lives %j ms is refreshed after %j ms: a server of the workspace may say any lifetime",
  (refreshLifetimeMs, refreshAfterMs) => {
    const tokens = { accessToken: "a", refreshToken: "r", refreshLifetimeMs };
    expect(sealTokens(deps, owner, tokens)).toMatchObject({ refreshAfterMs });
  },
);
