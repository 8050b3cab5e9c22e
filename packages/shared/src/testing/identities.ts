import { createAccess, type Access, type CallerTable } from "#src/identity/access.ts";
import { makeIdentityKey, parsePrivateKey, parsePublicKey } from "#src/identity/identity-keys.ts";
import { IDENTITY_NAMES } from "#src/identity/names.ts";
import type { OwnIdentity, TrustConfig } from "#src/identity/settings.ts";
import { createLogger } from "#src/telemetry/logger.ts";

export interface TestIdentities {
  of(name: string): OwnIdentity;
  readonly trust: TrustConfig;
  env(name: string): Readonly<Record<string, string>>;
  /** Without `callers`, every process with an identity may call every RPC. */
  accessOf(service: string, callers?: CallerTable): Access;
}

/** For tests that are not about identities. */
export const ACCEPT_ANYONE: Access = {
  authenticate: () => "anyone",
  authorize: () => undefined,
  callersOf: () => [],
};

export function createTestIdentities(names: readonly string[] = IDENTITY_NAMES): TestIdentities {
  const keys = new Map(names.map((name) => [name, makeIdentityKey()]));
  const get = (name: string) => {
    const key = keys.get(name);
    if (key === undefined) throw new Error(`${name} has no identity in this test`);
    return key;
  };
  const trustedKeys = [...keys].flatMap(([name, { publicKey }]) => {
    const key = parsePublicKey(publicKey);
    return key === undefined ? [] : [{ name, publicKey, key }];
  });
  const trust = { trustedKeys };
  const logger = createLogger({ service: "test", level: "silent" });
  const everyone = new Proxy<CallerTable>({}, { get: () => names });
  return {
    of: (name) => {
      const key = parsePrivateKey(get(name).privateKey);
      if (key === undefined) throw new Error("a generated key must be readable");
      return { name, keys: [key] };
    },
    trust,
    env: (name) => ({
      POSTRIDER_ENV: "development",
      IDENTITY_KEYS: get(name).privateKey,
      TRUSTED_IDENTITIES: [...keys].map(([each, { publicKey }]) => `${each}:${publicKey}`).join(),
    }),
    accessOf: (service, callers = everyone) => createAccess({ service, callers, logger, ...trust }),
  };
}
