import { openSql } from "@postrider/shared/postgres";
import { expect } from "vitest";
import { findQuotaDrift } from "../../../services/posts/test/quota-drift.ts";
import type { System } from "./system.ts";

/** Checks that every quota counter of the demo workspace matches the posts of the workspace. */
export async function expectNoQuotaDrift(system: System): Promise<void> {
  const { databaseUrl, workspaceId } = system.local();
  const url = new URL(databaseUrl);
  url.searchParams.set("search_path", "posts");
  const sql = openSql({ url: url.href, poolSize: 1, applicationName: "e2e" });
  try {
    expect(
      await sql.begin("isolation level repeatable read", (tx) => findQuotaDrift(tx, workspaceId)),
    ).toEqual([]);
  } finally {
    await sql.end();
  }
}
