import { ControlError } from "#src/control/errors.ts";
import type { Platform } from "#src/platform.ts";
import type { Platforms } from "#src/platforms.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

export type Query = Readonly<Record<string, string | undefined>>;

/** An instant as ISO text or Unix milliseconds. */
export function instantOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === "") {
    return undefined;
  }
  const instant = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(instant)) {
    throw new ControlError(400, `${name} is an ISO 8601 time or Unix milliseconds`);
  }
  return instant;
}

export function countOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === "") {
    return undefined;
  }
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0) {
    throw new ControlError(400, `${name} is a whole number`);
  }
  return count;
}

export function requirePlatform(platforms: Platforms, id: string): Platform {
  const platform = platforms.get(id);
  if (platform === undefined) {
    const known = [...platforms.keys()].join(", ");
    throw new ControlError(400, `platform ${id} is not simulated; there are ${known}`);
  }
  return platform;
}

/** The account of that external id or username, on one platform or, without one, on any. */
export function findAccount(
  world: World,
  platforms: Platforms,
  platform: string | undefined,
  either: string,
): Account | undefined {
  const candidates = platform === undefined ? [...platforms.keys()] : [platform];
  for (const candidate of candidates) {
    const account = world.accounts.find(candidate, either);
    if (account !== undefined) {
      return account;
    }
  }
  return undefined;
}

export function requireAccount(
  world: World,
  platforms: Platforms,
  platform: string,
  either: string,
): Account {
  const account = findAccount(world, platforms, requirePlatform(platforms, platform).id, either);
  if (account === undefined) {
    throw new ControlError(404, `there is no account ${either} on ${platform}`);
  }
  return account;
}
