import { STOP_GRACE_MS } from "@postrider/platforms/http/platform-request";
import { runProcess } from "@postrider/shared/process/lifecycle";
import { startApp } from "#src/app.ts";
import { readConfig } from "#src/config.ts";

await runProcess(() => startApp(readConfig()), { graceMs: STOP_GRACE_MS });
