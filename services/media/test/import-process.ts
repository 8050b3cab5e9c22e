import { parseAllowedAddress } from "@postrider/shared/http/addresses";
import { OutboundClient } from "@postrider/shared/http/outbound-client";
import { openSql } from "@postrider/shared/postgres";
import { configureFailpoints } from "@postrider/shared/process/failpoints";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { Imports } from "#src/operations/imports.ts";
import { openDiskStore } from "#src/storage/disk.ts";
import { TempSpace } from "#src/storage/temp-space.ts";
import { inspectFake, LIMITS } from "./fake-inspection.ts";
import { createImportClient } from "./import-client.ts";

/**
 * Main program of a process that runs one import, and that a failpoint can kill. The argument of
 * the process is a JSON object.
 */
const order = JSON.parse(process.argv[2] ?? "{}") as {
  readonly databaseUrl: string;
  readonly objects: string;
  readonly tempDir: string;
  readonly failpoints: string;
  readonly request: { readonly workspaceId: string; readonly url: string };
};

configureFailpoints(order.failpoints);
const sql = openSql({ url: order.databaseUrl, poolSize: 2, applicationName: "test-import" });
const store = await openDiskStore(order.objects);
const allow = [parseAllowedAddress("127.0.0.1:1-65535")].filter((entry) => entry !== undefined);
const client = new OutboundClient({ allow });
const space = new TempSpace({ folder: order.tempDir, bytes: 4 * LIMITS.maxVideoBytes });
await using imports = new Imports({
  client,
  inspect: inspectFake,
  limits: LIMITS,
  totalMs: 10_000,
  space,
  logger: createLogger({ service: "test", level: "silent" }),
});
await createImportClient({ sql, store, imports }).importMedia(order.request);
await sql.end();
