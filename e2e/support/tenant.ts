import { createApi, type Api } from "./api.ts";
import type { System } from "./system.ts";

/** A workspace of its own, so that limits, slots and lists of one test are nobody else's. */
export interface Tenant {
  readonly id: string;
  readonly api: Api;
  /** A fresh account of the platform; its id. */
  connect(platform: string): Promise<string>;
}

export async function openTenant(system: System, limits: readonly string[] = []): Promise<Tenant> {
  const { id } = await system.operate<{ id: string }>(
    "workspace",
    "create",
    "--name",
    "Tenant",
    "--verified",
  );
  const rate = ["--requests-per-minute", "60000"];
  await system.operate("workspace", "set-limits", id, ...rate, ...limits);
  const { key } = await system.operate<{ key: string }>(
    "key",
    "create",
    "--name",
    "Tenant",
    "--workspace",
    id,
    "--scopes",
    "all",
  );
  return {
    id,
    api: createApi(system.local().baseUrl, key),
    connect: async (platform) => {
      const account = await system.operate<{ id: string }>(
        "account",
        "connect",
        platform,
        "--workspace",
        id,
        "--simulated",
      );
      return account.id;
    },
  };
}
