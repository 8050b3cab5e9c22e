import { runProcess } from "@postrider/shared/lifecycle";
import { startApp } from "#src/app.ts";
import { readConfig } from "#src/config.ts";
import { STOP_GRACE_MS } from "#src/connectors/upload-time.ts";

await runProcess(() => startApp(readConfig()), { graceMs: STOP_GRACE_MS });
