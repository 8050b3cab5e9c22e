import type { Platform } from "#src/platform.ts";
import type { Platforms } from "#src/platforms.ts";
import type { Account } from "#src/world/accounts.ts";
import type { World } from "#src/world/world.ts";

export class ControlError extends Error {
  override name = "ControlError";
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

export type Query = Readonly<Record<string, string | undefined>>;

export function instantOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === "") return undefined;
  const instant = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(instant))
    throw new ControlError(400, `${name} must be an ISO 8601 time or Unix milliseconds`);
  return instant;
}

export function countOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === "") return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0)
    throw new ControlError(400, `${name} must be a whole number of at least 0`);
  return count;
}

export function requirePlatform(platforms: Platforms, id: string): Platform {
  const platform = platforms.get(id);
  if (platform === undefined) {
    const known = [...platforms.keys()].join(", ");
    throw new ControlError(400, `platform ${id} is not simulated; use one of ${known}`);
  }
  return platform;
}

export function findAccount(
  world: World,
  platforms: Platforms,
  platform: string | undefined,
  idOrUsername: string,
): Account | undefined {
  const candidates = platform === undefined ? [...platforms.keys()] : [platform];
  for (const candidate of candidates) {
    const account = world.accounts.find(candidate, idOrUsername);
    if (account !== undefined) return account;
  }
  return undefined;
}

export function requireAccount(
  world: World,
  platforms: Platforms,
  platform: string,
  idOrUsername: string,
): Account {
  const { id } = requirePlatform(platforms, platform);
  const account = findAccount(world, platforms, id, idOrUsername);
  if (account === undefined) {
    const remedy = "create it with POST /_control/accounts";
    throw new ControlError(404, `account ${idOrUsername} does not exist on ${platform}; ${remedy}`);
  }
  return account;
}
